CREATE TABLE `sessions` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`session_id` text NOT NULL,
	`owner_fid` integer NOT NULL,
	`public_key` blob NOT NULL,
	`custody` blob NOT NULL,
	`access` text NOT NULL,
	`label` text NOT NULL,
	`origin` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`last_used_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_session_id_unique` ON `sessions` (`session_id`);--> statement-breakpoint
CREATE INDEX `sessions_by_owner` ON `sessions` (`owner_fid`,`seq`);--> statement-breakpoint
CREATE INDEX `sessions_by_expiry` ON `sessions` (`expires_at`);