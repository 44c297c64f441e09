CREATE TABLE `channel_counts` (
	`channel_id` blob PRIMARY KEY NOT NULL,
	`members` integer NOT NULL,
	`moderators` integer NOT NULL,
	`member_slots` integer NOT NULL,
	`moderation_slots` integer NOT NULL,
	`followers` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `channel_slots` (
	`channel_id` blob NOT NULL,
	`kind` integer NOT NULL,
	`target` blob NOT NULL,
	`target_fid` integer NOT NULL,
	`state` integer NOT NULL,
	`author_fid` integer NOT NULL,
	`timestamp` integer NOT NULL,
	`seqnum` integer NOT NULL,
	`detail` blob,
	`message` blob,
	PRIMARY KEY(`channel_id`, `kind`, `target`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `channel_slots_by_state` ON `channel_slots` (`channel_id`,`kind`,`state`,`timestamp`,`target_fid`);
--> statement-breakpoint
CREATE INDEX `channel_slots_by_member` ON `channel_slots` (`target_fid`,`channel_id`) WHERE target_fid > 0;
--> statement-breakpoint
CREATE TABLE `channels` (
	`channel_id` blob PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`key` text NOT NULL,
	`name_key` text NOT NULL,
	`owner_address` blob NOT NULL,
	`expiry` integer NOT NULL,
	`pos_block` integer NOT NULL,
	`pos_tx` integer NOT NULL,
	`pos_log` integer NOT NULL,
	`registered_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `channels_by_id` ON `channels` (`id`);
--> statement-breakpoint
CREATE UNIQUE INDEX `channels_by_key` ON `channels` (`key`);
--> statement-breakpoint
CREATE INDEX `channels_by_id_prefix` ON `channels` (id COLLATE NOCASE);
--> statement-breakpoint
CREATE INDEX `channels_by_name_prefix` ON `channels` (`name_key`);
--> statement-breakpoint
CREATE INDEX `channels_by_owner` ON `channels` (`owner_address`,`key`);
--> statement-breakpoint
CREATE TABLE `owner_claims` (
	`fid` integer NOT NULL,
	`address` blob NOT NULL,
	`is_add` integer NOT NULL,
	`timestamp` integer NOT NULL,
	`hash` blob NOT NULL,
	`seqnum` integer NOT NULL,
	PRIMARY KEY(`fid`, `address`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `owner_claims_by_address` ON `owner_claims` (`address`,`is_add`,`timestamp`,`hash`,`fid`);
--> statement-breakpoint
CREATE TABLE `unknown_kinds` (
	`kind` text NOT NULL,
	`number` integer NOT NULL,
	`seen` integer NOT NULL,
	`dropped` integer NOT NULL,
	`last_at` integer NOT NULL,
	PRIMARY KEY(`kind`, `number`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `unknown_records` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`number` integer NOT NULL,
	`shard` integer NOT NULL,
	`block` integer NOT NULL,
	`position` integer NOT NULL,
	`bytes` blob NOT NULL
);
