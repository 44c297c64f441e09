CREATE TABLE `audience_cohorts` (
	`app_id` text NOT NULL,
	`week` integer NOT NULL,
	`age` integer NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`app_id`, `week`, `age`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `audience_cohorts_by_week` ON `audience_cohorts` (`week`);
--> statement-breakpoint
CREATE TABLE `campaign_departures` (
	`campaign` integer NOT NULL,
	`fid` integer NOT NULL,
	`client_fid` integer NOT NULL,
	PRIMARY KEY(`campaign`, `fid`)
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `campaigns` ADD `schedule` integer;
--> statement-breakpoint
CREATE INDEX `campaigns_of_schedule` ON `campaigns` (`schedule`) WHERE schedule IS NOT NULL;
