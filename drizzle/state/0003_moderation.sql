CREATE TABLE `app_bans` (
	`owner_fid` integer NOT NULL,
	`fid` integer NOT NULL,
	`banned_at` integer NOT NULL,
	`by_key_id` text,
	PRIMARY KEY(`owner_fid`, `fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `app_bans_by_time` ON `app_bans` (`owner_fid`,`banned_at`,`fid`);
--> statement-breakpoint
CREATE TABLE `private_mutes` (
	`owner_fid` integer NOT NULL,
	`fid` integer NOT NULL,
	`muted_fid` integer NOT NULL,
	`muted_at` integer NOT NULL,
	PRIMARY KEY(`owner_fid`, `fid`, `muted_fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `private_mutes_by_time` ON `private_mutes` (`owner_fid`,`fid`,`muted_at`,`muted_fid`);
--> statement-breakpoint
CREATE TABLE `rules_versions` (
	`owner_fid` integer PRIMARY KEY NOT NULL,
	`version` integer NOT NULL
);
