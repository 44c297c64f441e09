CREATE TABLE `seen_notifications` (
	`owner_fid` integer NOT NULL,
	`fid` integer NOT NULL,
	`type` text NOT NULL,
	`seen_at` integer NOT NULL,
	PRIMARY KEY(`owner_fid`, `fid`, `type`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `seen_notifications_by_time` ON `seen_notifications` (`seen_at`);