CREATE TABLE `audience_clients` (
	`app_id` text NOT NULL,
	`client_fid` integer NOT NULL,
	`host` text NOT NULL,
	`state` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`app_id`, `client_fid`, `host`, `state`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `audience_days` (
	`app_id` text NOT NULL,
	`day` integer NOT NULL,
	`change` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`app_id`, `day`, `change`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `audience_days_by_day` ON `audience_days` (`day`);--> statement-breakpoint
ALTER TABLE `campaigns` ADD `audience_count` integer;
--> statement-breakpoint
INSERT INTO `audience_clients` (`app_id`, `client_fid`, `host`, `state`, `count`)
SELECT `app_id`, `client_fid`, coalesce(`host`, ''), CASE WHEN `token` IS NULL THEN 'no_token' WHEN `enabled` = 1 THEN 'enabled' ELSE 'disabled' END, count(*)
FROM `tokens` GROUP BY 1, 2, 3, 4;
--> statement-breakpoint
INSERT INTO `audience_days` (`app_id`, `day`, `change`, `count`)
SELECT DISTINCT `app_id`, unixepoch() / 86400, 'added', 0 FROM `tokens`;
