CREATE TABLE `custodies` (
	`fid` integer PRIMARY KEY NOT NULL,
	`custody` blob NOT NULL,
	`block_number` integer NOT NULL,
	`log_index` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `custodies_by_expiry` ON `custodies` (`expires_at`);
