CREATE TABLE `token_changes` (
	`app_id` text NOT NULL,
	`fid` integer NOT NULL,
	`changed_at` text NOT NULL,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`app_id`, `fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `token_changes_by_expiry` ON `token_changes` (`expires_at`);--> statement-breakpoint
CREATE TABLE `token_totals` (
	`state` text PRIMARY KEY NOT NULL,
	`count` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `tokens` (
	`app_id` text NOT NULL,
	`fid` integer NOT NULL,
	`client_fid` integer NOT NULL,
	`url` text,
	`host` text,
	`token` text,
	`enabled` integer NOT NULL,
	`last_event` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`app_id`, `fid`, `client_fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `tokens_by_host` ON `tokens` (`app_id`,`host`,`fid`,`client_fid`) WHERE enabled = 1;--> statement-breakpoint
CREATE INDEX `secrets_by_expiry` ON `secrets` (`expires_at`) WHERE expires_at IS NOT NULL;