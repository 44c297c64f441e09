CREATE TABLE `schedules` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`schedule_id` text NOT NULL,
	`app_id` text NOT NULL,
	`owner_fid` integer NOT NULL,
	`custody` blob NOT NULL,
	`body_hash` blob NOT NULL,
	`content` text NOT NULL,
	`created_at` integer NOT NULL,
	`first_due_at` integer NOT NULL,
	`last_due_at` integer NOT NULL,
	`ended_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `schedules_schedule_id_unique` ON `schedules` (`schedule_id`);
--> statement-breakpoint
CREATE INDEX `schedules_by_app` ON `schedules` (`app_id`);
--> statement-breakpoint
CREATE INDEX `schedules_open` ON `schedules` (`app_id`) WHERE ended_at IS NULL;
--> statement-breakpoint
CREATE INDEX `schedules_by_end` ON `schedules` (`ended_at`);
--> statement-breakpoint
CREATE TABLE `schedule_waves` (
	`schedule` integer NOT NULL,
	`wave` integer NOT NULL,
	`due_at_ms` integer NOT NULL,
	`variant` integer NOT NULL,
	`state` text NOT NULL,
	`reason` text,
	`claimed_by` text,
	`campaign_id` text,
	PRIMARY KEY(`schedule`, `wave`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `schedule_waves_due` ON `schedule_waves` (`due_at_ms`) WHERE state = 'due';
--> statement-breakpoint
CREATE TABLE `saved_items` (
	`item_id` text PRIMARY KEY NOT NULL,
	`app_id` text NOT NULL,
	`kind` text NOT NULL,
	`content` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `saved_items_of_app` ON `saved_items` (`app_id`,`kind`,`created_at`,`item_id`);
--> statement-breakpoint
CREATE TABLE `open_links` (
	`token` text PRIMARY KEY NOT NULL,
	`app_id` text NOT NULL,
	`campaign` integer NOT NULL,
	`host` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `open_links_of_campaign` ON `open_links` (`campaign`,`token`);
--> statement-breakpoint
CREATE TABLE `app_opens` (
	`campaign` integer NOT NULL,
	`fid` integer NOT NULL,
	`app_id` text NOT NULL,
	`client_fid` integer NOT NULL,
	`opened_at` integer NOT NULL,
	`verified` integer NOT NULL,
	`goal` text,
	PRIMARY KEY(`campaign`, `fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `app_opens_of_person` ON `app_opens` (`app_id`,`fid`,`opened_at`);
--> statement-breakpoint
CREATE TABLE `open_counts` (
	`campaign` integer NOT NULL,
	`client_fid` integer NOT NULL,
	`age_minutes` integer NOT NULL,
	`opens` integer NOT NULL,
	`verified` integer NOT NULL,
	`goals` integer NOT NULL,
	PRIMARY KEY(`campaign`, `client_fid`, `age_minutes`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `person_zones` (
	`app_id` text NOT NULL,
	`fid` integer NOT NULL,
	`zone` text NOT NULL,
	`zone_before` text NOT NULL,
	`changed_at` integer NOT NULL,
	`reported_at` integer NOT NULL,
	PRIMARY KEY(`app_id`, `fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `person_zones_by_report` ON `person_zones` (`reported_at`);
