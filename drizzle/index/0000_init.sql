CREATE TABLE `event_outbox` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`event_id` blob NOT NULL,
	`kind` text NOT NULL,
	`fid` integer NOT NULL,
	`happened_at` integer NOT NULL,
	`applied_at` integer NOT NULL,
	`subject` blob,
	`root_hash` blob,
	`root_parent_url` text,
	`shard` integer,
	`block` integer
);
--> statement-breakpoint
CREATE INDEX `event_outbox_by_block` ON `event_outbox` (`shard`,`block`) WHERE "event_outbox"."shard" IS NOT NULL;
--> statement-breakpoint
CREATE TABLE `hub_blocks` (
	`shard` integer NOT NULL,
	`height` integer NOT NULL,
	`at` integer NOT NULL,
	`events` integer NOT NULL,
	`counts` text NOT NULL,
	`hash` blob NOT NULL,
	`seqnum` integer NOT NULL,
	PRIMARY KEY(`shard`, `height`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `hub_events` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`shard` integer NOT NULL,
	`id` integer NOT NULL,
	`type` integer NOT NULL,
	`fid` integer NOT NULL,
	`body` blob
);
--> statement-breakpoint
CREATE UNIQUE INDEX `hub_events_by_id` ON `hub_events` (`shard`,`id`);
--> statement-breakpoint
CREATE TABLE `touched` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`everything` integer NOT NULL,
	`fids` blob NOT NULL,
	`cast_ids` blob NOT NULL,
	`channel_ids` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `cast_repoints` (
	`old_id` integer PRIMARY KEY NOT NULL,
	`new_id` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `cast_repoints_by_new_id` ON `cast_repoints` (`new_id`);
--> statement-breakpoint
CREATE TABLE `casts` (
	`id` integer PRIMARY KEY NOT NULL,
	`hash` blob NOT NULL,
	`fid` integer NOT NULL,
	`text` text NOT NULL,
	`parent_id` integer,
	`parent_fid` integer,
	`parent_hash` blob,
	`parent_url_id` integer,
	`root_id` integer,
	`root_fid` integer,
	`root_hash` blob,
	`root_url_id` integer,
	`rest` blob,
	`envelope_id` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `casts_by_author` ON `casts` (`fid`,(parent_id IS NOT NULL));
--> statement-breakpoint
CREATE INDEX `casts_by_author_and_parent` ON `casts` (`fid`,`parent_id`) WHERE parent_id IS NOT NULL;
--> statement-breakpoint
CREATE INDEX `casts_by_author_in_channel` ON `casts` (`fid`,`parent_url_id`) WHERE parent_url_id IS NOT NULL;
--> statement-breakpoint
CREATE INDEX `casts_by_parent` ON `casts` (`parent_id`) WHERE parent_id IS NOT NULL;
--> statement-breakpoint
CREATE INDEX `casts_by_parent_url` ON `casts` (`parent_url_id`) WHERE parent_url_id IS NOT NULL;
--> statement-breakpoint
CREATE INDEX `casts_by_root` ON `casts` (`root_id`) WHERE root_id IS NOT NULL;
--> statement-breakpoint
CREATE TABLE `envelopes` (
	`id` integer PRIMARY KEY NOT NULL,
	`signer_id` integer NOT NULL,
	`signature` blob NOT NULL,
	`data` blob
);
--> statement-breakpoint
CREATE TABLE `links` (
	`fid` integer NOT NULL,
	`type` blob NOT NULL,
	`target_fid` integer NOT NULL,
	`timestamp` integer NOT NULL,
	`displayed_at` integer,
	`envelope_id` integer NOT NULL,
	PRIMARY KEY(`fid`, `type`, `target_fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `links_by_source` ON `links` (`fid`,`type`,`timestamp`,`target_fid`,`displayed_at`) WHERE displayed_at IS NULL;
--> statement-breakpoint
CREATE INDEX `links_by_source_displayed` ON `links` (`fid`,`type`,`displayed_at`,`target_fid`) WHERE displayed_at IS NOT NULL;
--> statement-breakpoint
CREATE INDEX `links_by_source_with_display` ON `links` (`fid`,`type`,`timestamp`) WHERE displayed_at IS NOT NULL;
--> statement-breakpoint
CREATE INDEX `links_by_target` ON `links` (`target_fid`,`type`,`timestamp`,`fid`,`displayed_at`) WHERE displayed_at IS NULL;
--> statement-breakpoint
CREATE INDEX `links_by_target_displayed` ON `links` (`target_fid`,`type`,`displayed_at`,`fid`) WHERE displayed_at IS NOT NULL;
--> statement-breakpoint
CREATE INDEX `links_by_target_with_display` ON `links` (`target_fid`,`type`,`timestamp`,`fid`) WHERE displayed_at IS NOT NULL;
--> statement-breakpoint
CREATE TABLE `message_signers` (
	`id` integer PRIMARY KEY NOT NULL,
	`key` blob NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `message_signers_by_key` ON `message_signers` (`key`);
--> statement-breakpoint
CREATE TABLE `messages` (
	`id` integer PRIMARY KEY NOT NULL,
	`fid` integer NOT NULL,
	`store` integer NOT NULL,
	`slot` blob NOT NULL,
	`kind` integer NOT NULL,
	`timestamp` integer NOT NULL,
	`signer_id` integer NOT NULL,
	`signature` blob NOT NULL,
	`data` blob NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `messages_by_slot` ON `messages` (`fid`,`store`,`slot`);
--> statement-breakpoint
CREATE INDEX `messages_by_age` ON `messages` (`fid`,`store`,`timestamp`);
--> statement-breakpoint
CREATE TABLE `missing_casts` (
	`id` integer PRIMARY KEY NOT NULL,
	`hash` blob NOT NULL,
	`fid` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `reactions` (
	`fid` integer NOT NULL,
	`target_fid` integer NOT NULL,
	`target_id` integer NOT NULL,
	`type` integer NOT NULL,
	`timestamp` integer NOT NULL,
	`envelope_id` integer NOT NULL,
	PRIMARY KEY(`fid`, `target_fid`, `target_id`, `type`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `reactions_by_target` ON `reactions` (`target_id`,`type`,`timestamp`,`fid`);
--> statement-breakpoint
CREATE INDEX `reactions_by_user` ON `reactions` (`fid`,`type`,`timestamp`);
--> statement-breakpoint
CREATE TABLE `urls` (
	`id` integer PRIMARY KEY NOT NULL,
	`url` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `urls_by_url` ON `urls` (`url`);
--> statement-breakpoint
CREATE TABLE `user_data` (
	`fid` integer NOT NULL,
	`type` integer NOT NULL,
	`value` text NOT NULL,
	`timestamp` integer NOT NULL,
	`envelope_id` integer NOT NULL,
	PRIMARY KEY(`fid`, `type`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `user_data_by_value` ON `user_data` (`type`,value COLLATE NOCASE,`fid`) WHERE type IN (7, 8) AND value != '';
--> statement-breakpoint
CREATE TABLE `channel_registry` (
	`id` text PRIMARY KEY NOT NULL,
	`registry_id` text NOT NULL,
	`url` text,
	`name` text NOT NULL,
	`name_key` text NOT NULL,
	`image_url` text,
	`description` text,
	`lead_fid` integer,
	`moderator_fids` text NOT NULL,
	`follower_count` integer NOT NULL,
	`created_at` integer,
	`pinned_cast_hash` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `channel_registry_by_registry_id` ON `channel_registry` (`registry_id`);
--> statement-breakpoint
CREATE INDEX `channel_registry_by_registry_id_prefix` ON `channel_registry` (registry_id COLLATE NOCASE);
--> statement-breakpoint
CREATE INDEX `channel_registry_by_id_prefix` ON `channel_registry` (id COLLATE NOCASE);
--> statement-breakpoint
CREATE INDEX `channel_registry_by_name_prefix` ON `channel_registry` (`name_key`);
--> statement-breakpoint
CREATE TABLE `gasless_keys` (
	`key` blob PRIMARY KEY NOT NULL,
	`fid` integer NOT NULL,
	`request_fid` integer NOT NULL,
	`scopes` text NOT NULL,
	`ttl_secs` integer NOT NULL,
	`added_at` integer NOT NULL,
	`last_used_at` integer NOT NULL,
	`nonce` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `gasless_keys_by_fid` ON `gasless_keys` (`fid`,`key`);
--> statement-breakpoint
CREATE TABLE `key_nonces` (
	`fid` integer NOT NULL,
	`request_fid` integer NOT NULL,
	`nonce` integer NOT NULL,
	PRIMARY KEY(`fid`, `request_fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `key_removals` (
	`key` blob PRIMARY KEY NOT NULL,
	`hash` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `meta` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `on_chain_events` (
	`type` integer NOT NULL,
	`fid` integer NOT NULL,
	`block_number` integer NOT NULL,
	`log_index` integer NOT NULL,
	`block_timestamp` integer NOT NULL,
	`bytes` blob NOT NULL,
	PRIMARY KEY(`type`, `fid`, `block_number`, `log_index`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `positions` (
	`key` text PRIMARY KEY NOT NULL,
	`position` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `rankings` (
	`kind` text NOT NULL,
	`snapshot` integer NOT NULL,
	`rank` integer NOT NULL,
	`ref` blob NOT NULL,
	`score` real NOT NULL,
	PRIMARY KEY(`kind`, `snapshot`, `rank`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `upstream_journal` (
	`shard` integer NOT NULL,
	`block` integer NOT NULL,
	`bytes` blob NOT NULL,
	PRIMARY KEY(`shard`, `block`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `upstream_mentioned` (
	`fid` integer PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE `upstream_todo` (
	`fid` integer PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE `username_proof_rivals` (
	`name` text NOT NULL,
	`fid` integer NOT NULL,
	`type` integer NOT NULL,
	`owner` blob NOT NULL,
	`signature` blob NOT NULL,
	`timestamp` integer NOT NULL,
	PRIMARY KEY(`name`, `fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `username_proof_rivals_by_fid` ON `username_proof_rivals` (`fid`,`name`);
--> statement-breakpoint
CREATE TABLE `username_proofs` (
	`name` text PRIMARY KEY NOT NULL,
	`type` integer NOT NULL,
	`fid` integer NOT NULL,
	`owner` blob NOT NULL,
	`signature` blob NOT NULL,
	`timestamp` integer NOT NULL,
	`message_timestamp` integer,
	`message_hash` blob
);
--> statement-breakpoint
CREATE INDEX `username_proofs_by_fid` ON `username_proofs` (`fid`,`name`);
--> statement-breakpoint
CREATE TABLE `fids` (
	`fid` integer PRIMARY KEY NOT NULL,
	`custody` blob,
	`registered_at` integer
);
--> statement-breakpoint
CREATE INDEX `fids_by_custody` ON `fids` (`custody`,`fid`);
--> statement-breakpoint
CREATE TABLE `pro_tiers` (
	`fid` integer PRIMARY KEY NOT NULL,
	`subscribed_at` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `signers` (
	`fid` integer NOT NULL,
	`key` blob NOT NULL,
	`state` integer NOT NULL,
	`key_type` integer NOT NULL,
	`metadata_type` integer NOT NULL,
	`request_fid` integer NOT NULL,
	`added_at` integer NOT NULL,
	PRIMARY KEY(`fid`, `key`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `signers_by_key` ON `signers` (`key`,`fid`);
--> statement-breakpoint
CREATE INDEX `signers_auth_addresses` ON `signers` (`fid`,`key`) WHERE key_type = 2 AND state = 1;
--> statement-breakpoint
CREATE TABLE `storage_lends` (
	`fid` integer NOT NULL,
	`to_fid` integer NOT NULL,
	`unit_type` integer NOT NULL,
	`units` integer NOT NULL,
	PRIMARY KEY(`fid`, `to_fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `storage_lends_by_borrower` ON `storage_lends` (`to_fid`,`fid`);
--> statement-breakpoint
CREATE TABLE `store_counts` (
	`fid` integer NOT NULL,
	`store` integer NOT NULL,
	`used` integer NOT NULL,
	PRIMARY KEY(`fid`, `store`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `cast_counts` (
	`id` integer PRIMARY KEY NOT NULL,
	`fid` integer NOT NULL,
	`likes` integer NOT NULL,
	`recasts` integer NOT NULL,
	`replies` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `cast_counts_by_author` ON `cast_counts` (`fid`,(likes + recasts + replies));
--> statement-breakpoint
CREATE TABLE `cast_embed_urls` (
	`url` text NOT NULL,
	`cast_id` integer NOT NULL,
	PRIMARY KEY(`url`, `cast_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `cast_mentions` (
	`mentioned_fid` integer NOT NULL,
	`cast_id` integer NOT NULL,
	`fid` integer NOT NULL,
	PRIMARY KEY(`mentioned_fid`, `cast_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `cast_mentions_by_author` ON `cast_mentions` (`fid`,`mentioned_fid`);
--> statement-breakpoint
CREATE TABLE `cast_quotes` (
	`quoted_id` integer NOT NULL,
	`cast_id` integer NOT NULL,
	PRIMARY KEY(`quoted_id`, `cast_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `channel_activity` (
	`id` text PRIMARY KEY NOT NULL,
	`casts` integer NOT NULL,
	`members` integer NOT NULL,
	`first_cast_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `channel_activity_by_members` ON `channel_activity` (members DESC,`id`);
--> statement-breakpoint
CREATE INDEX `channel_activity_by_id_prefix` ON `channel_activity` (id COLLATE NOCASE);
--> statement-breakpoint
CREATE TABLE `channel_members` (
	`channel_id` text NOT NULL,
	`fid` integer NOT NULL,
	`casts` integer NOT NULL,
	`last_cast_at` integer NOT NULL,
	PRIMARY KEY(`channel_id`, `fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `channel_members_by_activity` ON `channel_members` (`channel_id`,`last_cast_at`,`fid`);
--> statement-breakpoint
CREATE INDEX `channel_members_by_fid` ON `channel_members` (`fid`,`last_cast_at`,`channel_id`);
--> statement-breakpoint
CREATE TABLE `display_name_words` (
	`word` text NOT NULL,
	`fid` integer NOT NULL,
	PRIMARY KEY(`word`, `fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `display_name_words_by_fid` ON `display_name_words` (`fid`,`word`);
--> statement-breakpoint
CREATE TABLE `follow_counts` (
	`fid` integer PRIMARY KEY NOT NULL,
	`followers` integer NOT NULL,
	`following` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `follow_counts_by_followers` ON `follow_counts` (`followers`,`fid`);
--> statement-breakpoint
CREATE TABLE `mutual_follows` (
	`fid` integer NOT NULL,
	`other_fid` integer NOT NULL,
	`since` integer NOT NULL,
	PRIMARY KEY(`fid`, `other_fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `mutual_follows_by_age` ON `mutual_follows` (`fid`,`since`,`other_fid`);
--> statement-breakpoint
CREATE TABLE `notifications` (
	`fid` integer NOT NULL,
	`timestamp` integer NOT NULL,
	`kind` integer NOT NULL,
	`actor_fid` integer NOT NULL,
	`ref` integer NOT NULL,
	PRIMARY KEY(`fid`, `timestamp`, `kind`, `actor_fid`, `ref`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `notifications_of_casts` ON `notifications` (`fid`,`timestamp`,`kind`,`actor_fid`,`ref`) WHERE kind < 3;
--> statement-breakpoint
CREATE TABLE `thread_notifications` (
	`fid` integer NOT NULL,
	`root_url_id` integer NOT NULL,
	`timestamp` integer NOT NULL,
	`kind` integer NOT NULL,
	`actor_fid` integer NOT NULL,
	`ref` integer NOT NULL,
	PRIMARY KEY(`fid`, `root_url_id`, `timestamp`, `kind`, `actor_fid`, `ref`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `totals` (
	`name` text NOT NULL,
	`shard` integer NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`name`, `shard`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `verifications` (
	`fid` integer NOT NULL,
	`address` blob NOT NULL,
	`protocol` integer NOT NULL,
	`timestamp` integer NOT NULL,
	PRIMARY KEY(`fid`, `address`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `verifications_by_address` ON `verifications` (`address`,`fid`);
--> statement-breakpoint
-- What drizzle cannot describe.
-- Full-text index of live casts, by casts.id. It keeps no text of its own, and no positions: phrases are checked in the text.
-- Prefixes of one and two characters have lists of their own: made while the query runs, a list of them holds a tenth of all words.
CREATE VIRTUAL TABLE `casts_fts` USING fts5(`text`, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2', detail=none, prefix='1 2');
--> statement-breakpoint
CREATE INDEX `casts_by_hash` ON `casts` (substr(`hash`, 1, 6));
--> statement-breakpoint
CREATE INDEX `missing_casts_by_hash` ON `missing_casts` (substr(`hash`, 1, 6));
