CREATE TABLE `key_removals` (
	`key` blob PRIMARY KEY NOT NULL,
	`hash` blob NOT NULL
);
