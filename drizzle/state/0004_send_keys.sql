CREATE TABLE `campaign_clients` (
	`campaign` integer NOT NULL,
	`client_fid` integer NOT NULL,
	`tokens` integer NOT NULL,
	`successes` integer NOT NULL,
	PRIMARY KEY(`campaign`, `client_fid`)
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `secrets` ADD `digest` blob;--> statement-breakpoint
CREATE INDEX `secrets_by_digest` ON `secrets` (`digest`);