CREATE TABLE `hub_blocks` (
	`shard` integer NOT NULL,
	`height` integer NOT NULL,
	`at` integer NOT NULL,
	`events` integer NOT NULL,
	`counts` text NOT NULL,
	`hash` blob NOT NULL,
	`seqnum` integer NOT NULL,
	PRIMARY KEY(`shard`, `height`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `hub_events` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`shard` integer NOT NULL,
	`id` integer NOT NULL,
	`type` integer NOT NULL,
	`fid` integer NOT NULL,
	`body` blob
);
--> statement-breakpoint
CREATE UNIQUE INDEX `hub_events_by_id` ON `hub_events` (`shard`,`id`);