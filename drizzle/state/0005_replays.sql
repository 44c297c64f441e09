CREATE TABLE `webhook_replays` (
	`replay_id` text PRIMARY KEY NOT NULL,
	`webhook` integer NOT NULL,
	`webhook_id` text NOT NULL,
	`owner_fid` integer NOT NULL,
	`scope` text NOT NULL,
	`from_at` integer NOT NULL,
	`to_at` integer NOT NULL,
	`per_second` integer NOT NULL,
	`max_sent` integer NOT NULL,
	`state` text NOT NULL,
	`reason` text,
	`sent` integer NOT NULL,
	`last_created_at` integer,
	`last_seq` integer NOT NULL,
	`claimed_by` text,
	`lease_ends_at` integer,
	`created_at` integer NOT NULL,
	`ended_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_replays_running` ON `webhook_replays` (`webhook`) WHERE ended_at IS NULL;
--> statement-breakpoint
CREATE INDEX `webhook_replays_by_end` ON `webhook_replays` (`ended_at`) WHERE ended_at IS NOT NULL;
--> statement-breakpoint
ALTER TABLE `deliveries` ADD `replay_id` text;
