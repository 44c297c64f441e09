CREATE TABLE `switches` (
	`name` text PRIMARY KEY NOT NULL,
	`reason` text NOT NULL,
	`paused_by` text NOT NULL,
	`paused_at` integer NOT NULL
);
