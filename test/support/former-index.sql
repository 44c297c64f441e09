-- The schema of an index in the format before cast ids and columns, as its last migration left it.
CREATE TABLE "__drizzle_migrations" (
  id SERIAL PRIMARY KEY,
  hash text NOT NULL,
  created_at numeric
);
CREATE TABLE `gasless_keys` (
	`key` blob PRIMARY KEY NOT NULL,
	`fid` integer NOT NULL,
	`request_fid` integer NOT NULL,
	`scopes` text NOT NULL,
	`ttl_secs` integer NOT NULL,
	`added_at` integer NOT NULL,
	`last_used_at` integer NOT NULL,
	`nonce` integer DEFAULT 0 NOT NULL);
CREATE INDEX `gasless_keys_by_fid` ON `gasless_keys` (`fid`,`key`);
CREATE TABLE `key_nonces` (
	`fid` integer NOT NULL,
	`request_fid` integer NOT NULL,
	`nonce` integer NOT NULL,
	PRIMARY KEY(`fid`, `request_fid`)
) WITHOUT ROWID;
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
CREATE UNIQUE INDEX `messages_by_slot` ON `messages` (`fid`,`store`,`slot`);
CREATE INDEX `messages_by_age` ON `messages` (`fid`,`store`,`timestamp`,`hash`);
CREATE TABLE `meta` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
CREATE TABLE `on_chain_events` (
	`type` integer NOT NULL,
	`fid` integer NOT NULL,
	`block_number` integer NOT NULL,
	`log_index` integer NOT NULL,
	`block_timestamp` integer NOT NULL,
	`bytes` blob NOT NULL,
	PRIMARY KEY(`type`, `fid`, `block_number`, `log_index`)
) WITHOUT ROWID;
CREATE TABLE `positions` (
	`key` text PRIMARY KEY NOT NULL,
	`position` integer NOT NULL
);
CREATE TABLE `rankings` (
	`kind` text NOT NULL,
	`snapshot` integer NOT NULL,
	`rank` integer NOT NULL,
	`ref` blob NOT NULL,
	`score` real NOT NULL,
	PRIMARY KEY(`kind`, `snapshot`, `rank`)
) WITHOUT ROWID;
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
CREATE INDEX `username_proofs_by_fid` ON `username_proofs` (`fid`,`name`);
CREATE TABLE `fids` (
	`fid` integer PRIMARY KEY NOT NULL,
	`custody` blob,
	`registered_at` integer
);
CREATE INDEX `fids_by_custody` ON `fids` (`custody`,`fid`);
CREATE TABLE `pro_tiers` (
	`fid` integer PRIMARY KEY NOT NULL,
	`subscribed_at` integer NOT NULL,
	`expires_at` integer NOT NULL
);
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
CREATE INDEX `signers_by_key` ON `signers` (`key`,`fid`);
CREATE TABLE `storage_lends` (
	`fid` integer NOT NULL,
	`to_fid` integer NOT NULL,
	`unit_type` integer NOT NULL,
	`units` integer NOT NULL,
	PRIMARY KEY(`fid`, `to_fid`)
) WITHOUT ROWID;
CREATE INDEX `storage_lends_by_borrower` ON `storage_lends` (`to_fid`,`fid`);
CREATE TABLE `store_counts` (
	`fid` integer NOT NULL,
	`store` integer NOT NULL,
	`used` integer NOT NULL,
	PRIMARY KEY(`fid`, `store`)
) WITHOUT ROWID;
CREATE TABLE `cast_counts` (
	`hash` blob NOT NULL,
	`fid` integer NOT NULL,
	`likes` integer NOT NULL,
	`recasts` integer NOT NULL,
	`replies` integer NOT NULL,
	PRIMARY KEY(`hash`, `fid`)
) WITHOUT ROWID;
CREATE INDEX `cast_counts_by_author` ON `cast_counts` (`fid`,(likes + recasts + replies),`hash`);
CREATE TABLE `cast_mentions` (
	`fid` integer NOT NULL,
	`mentioned_fid` integer NOT NULL,
	`hash` blob NOT NULL,
	PRIMARY KEY(`fid`, `mentioned_fid`, `hash`)
) WITHOUT ROWID;
CREATE TABLE `cast_quotes` (
	`quoted_hash` blob NOT NULL,
	`quoted_fid` integer NOT NULL,
	`timestamp` integer NOT NULL,
	`hash` blob NOT NULL,
	PRIMARY KEY(`quoted_hash`, `quoted_fid`, `timestamp`, `hash`)
) WITHOUT ROWID;
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
CREATE INDEX `casts_by_author` ON `casts` (`fid`,`timestamp`,`hash`);
CREATE INDEX `casts_by_author_replies` ON `casts` (`fid`,`timestamp`,`hash`) WHERE parent_hash IS NOT NULL;
CREATE INDEX `casts_by_author_in_channel` ON `casts` (`fid`,`parent_url`,`timestamp`) WHERE parent_url IS NOT NULL;
CREATE INDEX `casts_by_parent` ON `casts` (`parent_hash`,`parent_fid`,`timestamp`,`hash`) WHERE parent_hash IS NOT NULL;
CREATE INDEX `casts_by_parent_url` ON `casts` (`parent_url`,`timestamp`,`hash`) WHERE parent_url IS NOT NULL;
CREATE INDEX `casts_by_root` ON `casts` (`root_hash`) WHERE root_hash IS NOT NULL;
CREATE TABLE `channel_activity` (
	`id` text PRIMARY KEY NOT NULL,
	`casts` integer NOT NULL,
	`members` integer NOT NULL,
	`first_cast_at` integer NOT NULL
);
CREATE TABLE `channel_members` (
	`channel_id` text NOT NULL,
	`fid` integer NOT NULL,
	`casts` integer NOT NULL,
	`last_cast_at` integer NOT NULL,
	PRIMARY KEY(`channel_id`, `fid`)
) WITHOUT ROWID;
CREATE INDEX `channel_members_by_activity` ON `channel_members` (`channel_id`,`last_cast_at`,`fid`);
CREATE INDEX `channel_members_by_fid` ON `channel_members` (`fid`,`last_cast_at`,`channel_id`);
CREATE TABLE `display_name_words` (
	`word` text NOT NULL,
	`fid` integer NOT NULL,
	PRIMARY KEY(`word`, `fid`)
) WITHOUT ROWID;
CREATE TABLE `follow_counts` (
	`fid` integer PRIMARY KEY NOT NULL,
	`followers` integer NOT NULL,
	`following` integer NOT NULL
);
CREATE TABLE `links` (
	`fid` integer NOT NULL,
	`type` text NOT NULL,
	`target_fid` integer NOT NULL,
	`linked_at` integer NOT NULL,
	PRIMARY KEY(`fid`, `type`, `target_fid`)
) WITHOUT ROWID;
CREATE INDEX `links_by_source` ON `links` (`fid`,`type`,`linked_at`,`target_fid`);
CREATE INDEX `links_by_target` ON `links` (`target_fid`,`type`,`linked_at`,`fid`);
CREATE TABLE `mutual_follows` (
	`fid` integer NOT NULL,
	`other_fid` integer NOT NULL,
	`since` integer NOT NULL,
	PRIMARY KEY(`fid`, `other_fid`)
) WITHOUT ROWID;
CREATE INDEX `mutual_follows_by_age` ON `mutual_follows` (`fid`,`since`,`other_fid`);
CREATE TABLE `notifications` (
	`fid` integer NOT NULL,
	`timestamp` integer NOT NULL,
	`kind` integer NOT NULL,
	`actor_fid` integer NOT NULL,
	`ref` blob NOT NULL,
	PRIMARY KEY(`fid`, `timestamp`, `kind`, `actor_fid`, `ref`)
) WITHOUT ROWID;
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
CREATE INDEX `reactions_by_target` ON `reactions` (`target_hash`,`target_fid`,`type`,`timestamp`,`fid`) WHERE target_hash IS NOT NULL;
CREATE TABLE `totals` (
	`name` text PRIMARY KEY NOT NULL,
	`count` integer NOT NULL
);
CREATE TABLE `user_data` (
	`fid` integer NOT NULL,
	`type` integer NOT NULL,
	`value` text NOT NULL,
	PRIMARY KEY(`fid`, `type`)
) WITHOUT ROWID;
CREATE INDEX `user_data_by_value` ON `user_data` (`type`,value COLLATE NOCASE,`fid`) WHERE type IN (7, 8);
CREATE TABLE `verifications` (
	`fid` integer NOT NULL,
	`address` blob NOT NULL,
	`protocol` integer NOT NULL,
	`timestamp` integer NOT NULL,
	PRIMARY KEY(`fid`, `address`)
) WITHOUT ROWID;
CREATE INDEX `verifications_by_address` ON `verifications` (`address`,`fid`);
CREATE VIRTUAL TABLE `casts_fts` USING fts5(`text`, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2', prefix='1 2');
CREATE INDEX `reactions_by_pair` ON `reactions` (`fid`,`target_fid`,`target_hash`,`type`) WHERE target_fid IS NOT NULL;
CREATE INDEX `display_name_words_by_fid` ON `display_name_words` (`fid`,`word`);
CREATE INDEX `follow_counts_by_followers` ON `follow_counts` (`followers`,`fid`);
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
CREATE UNIQUE INDEX `channel_registry_by_registry_id` ON `channel_registry` (`registry_id`);
CREATE INDEX `channel_registry_by_registry_id_prefix` ON `channel_registry` (registry_id COLLATE NOCASE);
CREATE INDEX `channel_registry_by_id_prefix` ON `channel_registry` (id COLLATE NOCASE);
CREATE INDEX `channel_registry_by_name_prefix` ON `channel_registry` (`name_key`);
CREATE INDEX `channel_activity_by_id_prefix` ON `channel_activity` (id COLLATE NOCASE);
CREATE INDEX `channel_activity_by_members` ON `channel_activity` (members DESC,`id`);
CREATE INDEX `notifications_of_casts` ON `notifications` (`fid`,`timestamp`,`kind`,`actor_fid`,`ref`) WHERE kind < 3;
CREATE INDEX `casts_by_time` ON `casts` (`timestamp`,`hash`,`fid`);
CREATE TABLE `event_outbox` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`event_id` blob NOT NULL,
	`kind` text NOT NULL,
	`fid` integer NOT NULL,
	`happened_at` integer NOT NULL,
	`applied_at` integer NOT NULL,
	`subject` blob,
	`root_hash` blob,
	`root_parent_url` text
);
CREATE TABLE `upstream_journal` (
	`shard` integer NOT NULL,
	`block` integer NOT NULL,
	`bytes` blob NOT NULL,
	PRIMARY KEY(`shard`, `block`)
) WITHOUT ROWID;
CREATE TABLE `upstream_mentioned` (
	`fid` integer PRIMARY KEY NOT NULL
);
CREATE TABLE `upstream_todo` (
	`fid` integer PRIMARY KEY NOT NULL
);
CREATE TABLE `username_proof_rivals` (
	`name` text NOT NULL,
	`fid` integer NOT NULL,
	`type` integer NOT NULL,
	`owner` blob NOT NULL,
	`signature` blob NOT NULL,
	`timestamp` integer NOT NULL,
	PRIMARY KEY(`name`, `fid`)
) WITHOUT ROWID;
CREATE INDEX `username_proof_rivals_by_fid` ON `username_proof_rivals` (`fid`,`name`);
CREATE TABLE `touched` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`everything` integer NOT NULL,
	`fids` blob NOT NULL,
	`hashes` blob NOT NULL,
	`channel_ids` text NOT NULL
);
CREATE INDEX `casts_by_author_roots` ON `casts` (`fid`,`timestamp`,`hash`,`parent_hash`) WHERE parent_hash IS NULL;
CREATE TABLE `cast_embed_urls` (
	`url` text NOT NULL,
	`timestamp` integer NOT NULL,
	`hash` blob NOT NULL,
	PRIMARY KEY(`url`, `timestamp`, `hash`)
) WITHOUT ROWID;
CREATE UNIQUE INDEX `casts_by_hash` ON `casts` (`hash`,`fid`);
CREATE INDEX `casts_by_author_and_parent` ON `casts` (`fid`,`parent_hash`,`parent_fid`,`timestamp`,`hash`) WHERE parent_hash IS NOT NULL;
CREATE TABLE `thread_notifications` (
	`fid` integer NOT NULL,
	`root_parent_url` text NOT NULL,
	`timestamp` integer NOT NULL,
	`kind` integer NOT NULL,
	`actor_fid` integer NOT NULL,
	`ref` blob NOT NULL,
	PRIMARY KEY(`fid`, `root_parent_url`, `timestamp`, `kind`, `actor_fid`, `ref`)
) WITHOUT ROWID;
CREATE INDEX `signers_auth_addresses` ON `signers` (`fid`,`key`) WHERE key_type = 2 AND state = 1;
CREATE TABLE `key_removals` (
	`key` blob PRIMARY KEY NOT NULL,
	`hash` blob NOT NULL
);
INSERT INTO "__drizzle_migrations" (hash, created_at) VALUES
  ('bde916d035ff3d17473a2b2771c57487918ed7b27fdf644fc956037d12b41a7f', 1795262699609),
  ('3866194bad6c6d57a50b3b9227c1ae384a3e53a3dd2a203a834c00ecf028c893', 1795262700004),
  ('a2027a0847fbf147378a0d7b7463e087ec9df210bd7beabd8edf4edcd07c5c1c', 1795263444966),
  ('ddfe8a42bf190f9c7949545a35f416b1237e858754385ed384d1b2b58cd73143', 1795263624428),
  ('cb0ef1b451c9684a80eeb5235440e23d65c27b19829f6423ae54383c87fa9964', 1795263679573),
  ('043f7598de61648be89243f8f8962b331fbab30125e50971580bdff5fdcb02ec', 1795275782490),
  ('986eea7028d5a45505659e8d6b466d04594174136c9cc0c01f67600140076f71', 1795276089558),
  ('965fda504342a96758d44288353eeec8c73080005a769ece85b329e4c57ca671', 1795276316959),
  ('be21d22378285eb9b06740e1d523e3718477f902686bdd09c74cdafff5cfc648', 1795277603796),
  ('20e22523c2b91727af10a1547055ad3a902780869bb38bc3ad38d75a1c6a9e8d', 1795279433084),
  ('c7fe540b7440b3a65c15114dbd20e684e749586a9e3264db7dd9ef5f374cf172', 1795289087916),
  ('c84d6478cc09b498e23c4fec5e04820fb8eef0d80cb6eec3802a915e46940dde', 1795289921065),
  ('f6a29ff6e2b48d1b90c993e67ccf6f94c7bf24a632ea4b9c225dda9dd618fba9', 1795315586990),
  ('91146da49a714e05af359f611089f70c70f238502477a0721ce683a8baea9333', 1795316145497),
  ('00d909ce1cfd14db785b2bb5b84976973ce5bab1d1cae77eb57b160b3a11f244', 1795321448211);
