CREATE TABLE `channel_registry` (
	`id` text PRIMARY KEY NOT NULL,
	`url` text,
	`name` text NOT NULL,
	`image_url` text,
	`description` text,
	`lead_fid` integer,
	`moderator_fids` text NOT NULL,
	`follower_count` integer NOT NULL,
	`created_at` integer,
	`pinned_cast_hash` text
);
--> statement-breakpoint
CREATE INDEX `channel_registry_by_name` ON `channel_registry` (name COLLATE NOCASE,`id`);--> statement-breakpoint
CREATE TABLE `gasless_keys` (
	`key` blob PRIMARY KEY NOT NULL,
	`fid` integer NOT NULL,
	`request_fid` integer NOT NULL,
	`scopes` text NOT NULL,
	`ttl_secs` integer NOT NULL,
	`added_at` integer NOT NULL,
	`last_used_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `gasless_keys_by_fid` ON `gasless_keys` (`fid`,`key`);--> statement-breakpoint
CREATE TABLE `key_nonces` (
	`fid` integer NOT NULL,
	`request_fid` integer NOT NULL,
	`nonce` integer NOT NULL,
	PRIMARY KEY(`fid`, `request_fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `messages` (
	`id` integer PRIMARY KEY NOT NULL,
	`fid` integer NOT NULL,
	`store` integer NOT NULL,
	`slot` blob NOT NULL,
	`kind` integer NOT NULL,
	`timestamp` integer NOT NULL,
	`hash` blob NOT NULL,
	`bytes` blob NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `messages_by_slot` ON `messages` (`fid`,`store`,`slot`);--> statement-breakpoint
CREATE INDEX `messages_by_age` ON `messages` (`fid`,`store`,`timestamp`,`hash`);--> statement-breakpoint
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
CREATE INDEX `username_proofs_by_fid` ON `username_proofs` (`fid`,`name`);--> statement-breakpoint
CREATE TABLE `fids` (
	`fid` integer PRIMARY KEY NOT NULL,
	`custody` blob,
	`registered_at` integer
);
--> statement-breakpoint
CREATE INDEX `fids_by_custody` ON `fids` (`custody`,`fid`);--> statement-breakpoint
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
CREATE INDEX `signers_by_key` ON `signers` (`key`,`fid`);--> statement-breakpoint
CREATE TABLE `storage_lends` (
	`fid` integer NOT NULL,
	`to_fid` integer NOT NULL,
	`unit_type` integer NOT NULL,
	`units` integer NOT NULL,
	PRIMARY KEY(`fid`, `to_fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `storage_lends_by_borrower` ON `storage_lends` (`to_fid`,`fid`);--> statement-breakpoint
CREATE TABLE `store_counts` (
	`fid` integer NOT NULL,
	`store` integer NOT NULL,
	`used` integer NOT NULL,
	PRIMARY KEY(`fid`, `store`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `cast_counts` (
	`hash` blob NOT NULL,
	`fid` integer NOT NULL,
	`likes` integer NOT NULL,
	`recasts` integer NOT NULL,
	`replies` integer NOT NULL,
	PRIMARY KEY(`hash`, `fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `cast_counts_by_author` ON `cast_counts` (`fid`,(likes + recasts + replies),`hash`);--> statement-breakpoint
CREATE TABLE `cast_mentions` (
	`fid` integer NOT NULL,
	`mentioned_fid` integer NOT NULL,
	`hash` blob NOT NULL,
	PRIMARY KEY(`fid`, `mentioned_fid`, `hash`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `cast_quotes` (
	`quoted_hash` blob NOT NULL,
	`quoted_fid` integer NOT NULL,
	`timestamp` integer NOT NULL,
	`hash` blob NOT NULL,
	PRIMARY KEY(`quoted_hash`, `quoted_fid`, `timestamp`, `hash`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `casts` (
	`id` integer PRIMARY KEY NOT NULL,
	`hash` blob NOT NULL,
	`fid` integer NOT NULL,
	`timestamp` integer NOT NULL,
	`text` text NOT NULL,
	`parent_fid` integer,
	`parent_hash` blob,
	`parent_url` text,
	`root_fid` integer,
	`root_hash` blob,
	`root_parent_url` text,
	`mentions` text,
	`embeds` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `casts_by_hash` ON `casts` (`hash`);--> statement-breakpoint
CREATE INDEX `casts_by_author` ON `casts` (`fid`,`timestamp`,`hash`);--> statement-breakpoint
CREATE INDEX `casts_by_author_replies` ON `casts` (`fid`,`timestamp`,`hash`) WHERE parent_hash IS NOT NULL;--> statement-breakpoint
CREATE INDEX `casts_by_author_in_channel` ON `casts` (`fid`,`parent_url`,`timestamp`) WHERE parent_url IS NOT NULL;--> statement-breakpoint
CREATE INDEX `casts_by_parent` ON `casts` (`parent_hash`,`parent_fid`,`timestamp`,`hash`) WHERE parent_hash IS NOT NULL;--> statement-breakpoint
CREATE INDEX `casts_by_parent_url` ON `casts` (`parent_url`,`timestamp`,`hash`) WHERE parent_url IS NOT NULL;--> statement-breakpoint
CREATE INDEX `casts_by_root` ON `casts` (`root_hash`) WHERE root_hash IS NOT NULL;--> statement-breakpoint
CREATE TABLE `channel_activity` (
	`id` text PRIMARY KEY NOT NULL,
	`casts` integer NOT NULL,
	`members` integer NOT NULL,
	`first_cast_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `channel_activity_by_members` ON `channel_activity` (`members`,`id`);--> statement-breakpoint
CREATE TABLE `channel_members` (
	`channel_id` text NOT NULL,
	`fid` integer NOT NULL,
	`casts` integer NOT NULL,
	`last_cast_at` integer NOT NULL,
	PRIMARY KEY(`channel_id`, `fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `channel_members_by_activity` ON `channel_members` (`channel_id`,`last_cast_at`,`fid`);--> statement-breakpoint
CREATE INDEX `channel_members_by_fid` ON `channel_members` (`fid`,`last_cast_at`,`channel_id`);--> statement-breakpoint
CREATE TABLE `display_name_words` (
	`word` text NOT NULL,
	`fid` integer NOT NULL,
	PRIMARY KEY(`word`, `fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `follow_counts` (
	`fid` integer PRIMARY KEY NOT NULL,
	`followers` integer NOT NULL,
	`following` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `links` (
	`fid` integer NOT NULL,
	`type` text NOT NULL,
	`target_fid` integer NOT NULL,
	`linked_at` integer NOT NULL,
	PRIMARY KEY(`fid`, `type`, `target_fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `links_by_source` ON `links` (`fid`,`type`,`linked_at`,`target_fid`);--> statement-breakpoint
CREATE INDEX `links_by_target` ON `links` (`target_fid`,`type`,`linked_at`,`fid`);--> statement-breakpoint
CREATE TABLE `mutual_follows` (
	`fid` integer NOT NULL,
	`other_fid` integer NOT NULL,
	`since` integer NOT NULL,
	PRIMARY KEY(`fid`, `other_fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `mutual_follows_by_age` ON `mutual_follows` (`fid`,`since`,`other_fid`);--> statement-breakpoint
CREATE TABLE `notifications` (
	`fid` integer NOT NULL,
	`timestamp` integer NOT NULL,
	`kind` integer NOT NULL,
	`actor_fid` integer NOT NULL,
	`ref` blob NOT NULL,
	PRIMARY KEY(`fid`, `timestamp`, `kind`, `actor_fid`, `ref`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `reactions` (
	`fid` integer NOT NULL,
	`type` integer NOT NULL,
	`timestamp` integer NOT NULL,
	`hash` blob NOT NULL,
	`target_fid` integer,
	`target_hash` blob,
	`target_url` text,
	PRIMARY KEY(`fid`, `type`, `timestamp`, `hash`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `reactions_by_target` ON `reactions` (`target_hash`,`target_fid`,`type`,`timestamp`,`fid`) WHERE target_hash IS NOT NULL;--> statement-breakpoint
CREATE INDEX `reactions_by_pair` ON `reactions` (`fid`,`target_fid`) WHERE target_fid IS NOT NULL;--> statement-breakpoint
CREATE TABLE `totals` (
	`name` text PRIMARY KEY NOT NULL,
	`count` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `user_data` (
	`fid` integer NOT NULL,
	`type` integer NOT NULL,
	`value` text NOT NULL,
	PRIMARY KEY(`fid`, `type`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `user_data_by_value` ON `user_data` (`type`,value COLLATE NOCASE,`fid`) WHERE type IN (7, 8);--> statement-breakpoint
CREATE TABLE `verifications` (
	`fid` integer NOT NULL,
	`address` blob NOT NULL,
	`protocol` integer NOT NULL,
	`timestamp` integer NOT NULL,
	PRIMARY KEY(`fid`, `address`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `verifications_by_address` ON `verifications` (`address`,`fid`);