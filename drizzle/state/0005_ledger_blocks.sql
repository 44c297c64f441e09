-- The ledger of the form before is not carried over, so what was under way ends here: better than to send it twice.
UPDATE `campaigns` SET `status` = 'aborted', `ended_at` = unixepoch() WHERE `ended_at` IS NULL;--> statement-breakpoint
CREATE TABLE `campaign_audiences` (
	`campaign` integer PRIMARY KEY NOT NULL,
	`audience` text NOT NULL
);
--> statement-breakpoint
DROP INDEX `tokens_by_host`;--> statement-breakpoint
CREATE INDEX `tokens_by_host` ON `tokens` (`app_id`,`host`,`fid`,`client_fid`,`url`,`token`) WHERE enabled = 1;--> statement-breakpoint
DROP TABLE `campaign_failures`;--> statement-breakpoint
CREATE TABLE `campaign_failures` (
	`campaign` integer NOT NULL,
	`client_fid` integer NOT NULL,
	`block` integer NOT NULL,
	`fids` blob NOT NULL,
	PRIMARY KEY(`campaign`, `client_fid`, `block`)
) WITHOUT ROWID;
--> statement-breakpoint
DROP TABLE `dedupe`;--> statement-breakpoint
CREATE TABLE `dedupe` (
	`key` integer NOT NULL,
	`client_fid` integer NOT NULL,
	`block` integer NOT NULL,
	`campaign` integer NOT NULL,
	`sent` integer NOT NULL,
	`fids` blob NOT NULL,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`key`, `client_fid`, `block`, `campaign`, `sent`)
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `campaigns` DROP COLUMN `audience`;