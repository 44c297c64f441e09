CREATE TABLE `channel_replaced` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`hash` blob NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `channel_replaced_by_hash` ON `channel_replaced` (`hash`);
