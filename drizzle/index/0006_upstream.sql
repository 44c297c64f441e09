CREATE TABLE `upstream_journal` (
	`shard` integer NOT NULL,
	`block` integer NOT NULL,
	`bytes` blob NOT NULL,
	PRIMARY KEY(`shard`, `block`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `upstream_mentioned` (
	`fid` integer PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE `upstream_todo` (
	`fid` integer PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE `username_proof_rivals` (
	`name` text NOT NULL,
	`fid` integer NOT NULL,
	`type` integer NOT NULL,
	`owner` blob NOT NULL,
	`signature` blob NOT NULL,
	`timestamp` integer NOT NULL,
	PRIMARY KEY(`name`, `fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `username_proof_rivals_by_fid` ON `username_proof_rivals` (`fid`,`name`);