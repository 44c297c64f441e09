CREATE TABLE `score_runs` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`is_done` integer NOT NULL,
	`at` integer NOT NULL,
	`method` text NOT NULL,
	`params` text NOT NULL,
	`seeds` text NOT NULL,
	`stats` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `score_runs_by_kind` ON `score_runs` (`kind`,`is_done`,`id`);
--> statement-breakpoint
CREATE TABLE `scores` (
	`run_id` integer NOT NULL,
	`fid` integer NOT NULL,
	`score` integer NOT NULL,
	`state` integer NOT NULL,
	`rank` integer NOT NULL,
	`via_fid` integer NOT NULL,
	`sources` blob,
	`note` text,
	PRIMARY KEY(`run_id`, `fid`)
) WITHOUT ROWID;
