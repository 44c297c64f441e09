CREATE TABLE `confirmed_events` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`type` integer NOT NULL,
	`fid` integer NOT NULL,
	`fingerprint` blob NOT NULL,
	`confirmed_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `confirmed_events_by_fid` ON `confirmed_events` (`fid`,`type`);
