CREATE TABLE `node_figures` (
	`node_id` text NOT NULL,
	`step` integer NOT NULL,
	`t` integer NOT NULL,
	`body` blob NOT NULL,
	PRIMARY KEY(`node_id`, `step`, `t`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `node_figures_by_time` ON `node_figures` (`step`,`t`);
