CREATE TABLE `touched` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`everything` integer NOT NULL,
	`fids` blob NOT NULL,
	`hashes` blob NOT NULL,
	`channel_ids` text NOT NULL
);
