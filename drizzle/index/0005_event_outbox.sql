CREATE TABLE `event_outbox` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`event_id` blob NOT NULL,
	`kind` text NOT NULL,
	`fid` integer NOT NULL,
	`happened_at` integer NOT NULL,
	`applied_at` integer NOT NULL,
	`subject` blob,
	`root_hash` blob,
	`root_parent_url` text
);
