CREATE TABLE `attempt_stats` (
	`webhook` integer NOT NULL,
	`starts_at` integer NOT NULL,
	`duration_class` integer NOT NULL,
	`attempts` integer NOT NULL,
	`delivered` integer NOT NULL,
	`failed` integer NOT NULL,
	PRIMARY KEY(`webhook`, `starts_at`, `duration_class`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `attempt_stats_by_time` ON `attempt_stats` (`starts_at`);