CREATE TABLE `chain_heads` (
	`shard` integer PRIMARY KEY NOT NULL,
	`height` integer NOT NULL,
	`hash` blob NOT NULL,
	`timestamp` integer NOT NULL,
	`root` blob NOT NULL,
	`certified` integer NOT NULL
);
