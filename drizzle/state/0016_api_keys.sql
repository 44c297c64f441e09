CREATE TABLE `api_key_usage` (
	`api_key_id` text NOT NULL,
	`day` integer NOT NULL,
	`route` text NOT NULL,
	`requests` integer NOT NULL,
	`units` integer NOT NULL,
	`writes` integer NOT NULL,
	`errors` integer NOT NULL,
	`limited` integer NOT NULL,
	PRIMARY KEY(`api_key_id`, `day`, `route`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `api_key_usage_by_day` ON `api_key_usage` (`day`);--> statement-breakpoint
CREATE TABLE `api_keys` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`api_key_id` text NOT NULL,
	`owner_fid` integer NOT NULL,
	`name` text NOT NULL,
	`prefix` text NOT NULL,
	`scopes` text NOT NULL,
	`app_id` text,
	`active` integer NOT NULL,
	`custody` blob NOT NULL,
	`units_per_minute` integer,
	`writes_per_minute` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`expires_at` integer,
	`last_used_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_api_key_id_unique` ON `api_keys` (`api_key_id`);--> statement-breakpoint
CREATE INDEX `api_keys_by_owner` ON `api_keys` (`owner_fid`);--> statement-breakpoint
CREATE TABLE `rate_buckets` (
	`name` text PRIMARY KEY NOT NULL,
	`full_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `rate_buckets_by_time` ON `rate_buckets` (`full_at_ms`);