CREATE TABLE `campaign_counts` (
	`campaign` integer NOT NULL,
	`host` text NOT NULL,
	`kind` text NOT NULL,
	`reason` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`campaign`, `host`, `kind`, `reason`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `campaign_failures` (
	`campaign` integer NOT NULL,
	`fid` integer NOT NULL,
	`client_fid` integer NOT NULL,
	PRIMARY KEY(`campaign`, `fid`, `client_fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `campaign_retryable` (
	`campaign` integer NOT NULL,
	`fid` integer NOT NULL,
	PRIMARY KEY(`campaign`, `fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `campaigns` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`campaign_id` text NOT NULL,
	`app_id` text NOT NULL,
	`dedupe_key` integer NOT NULL,
	`notification_id` text NOT NULL,
	`title` text NOT NULL,
	`body` text NOT NULL,
	`target_url` text NOT NULL,
	`audience` text,
	`status` text NOT NULL,
	`success_count` integer NOT NULL,
	`failure_count` integer NOT NULL,
	`not_attempted_count` integer NOT NULL,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`ended_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `campaigns_campaign_id_unique` ON `campaigns` (`campaign_id`);--> statement-breakpoint
CREATE INDEX `campaigns_by_app` ON `campaigns` (`app_id`,`seq`);--> statement-breakpoint
CREATE INDEX `campaigns_under_way` ON `campaigns` (`app_id`,`seq`) WHERE ended_at IS NULL;--> statement-breakpoint
CREATE INDEX `campaigns_by_creation` ON `campaigns` (`created_at`);--> statement-breakpoint
CREATE TABLE `dedupe` (
	`key` integer NOT NULL,
	`fid` integer NOT NULL,
	`client_fid` integer NOT NULL,
	`campaign` integer NOT NULL,
	`sent` integer NOT NULL,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`key`, `fid`, `client_fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `dedupe_keys` (
	`key` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`app_id` text NOT NULL,
	`notification_id` text NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `dedupe_keys_by_notification` ON `dedupe_keys` (`app_id`,`notification_id`);--> statement-breakpoint
CREATE INDEX `dedupe_keys_by_expiry` ON `dedupe_keys` (`expires_at`);