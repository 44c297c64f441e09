CREATE TABLE `chain_heads` (
	`shard` integer PRIMARY KEY NOT NULL,
	`height` integer NOT NULL,
	`hash` blob NOT NULL,
	`timestamp` integer NOT NULL,
	`root` blob NOT NULL,
	`certified` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `trie_accounts` (
	`shard` integer NOT NULL,
	`account` blob NOT NULL,
	`root` blob NOT NULL,
	`kinds` blob NOT NULL,
	`claimed` blob,
	PRIMARY KEY(`shard`, `account`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `trie_corrections` (
	`shard` integer NOT NULL,
	`key` blob NOT NULL,
	`present` integer NOT NULL,
	PRIMARY KEY(`shard`, `key`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `trie_dirty` (
	`shard` integer NOT NULL,
	`account` blob NOT NULL,
	`kind` integer NOT NULL,
	PRIMARY KEY(`shard`, `account`, `kind`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `trie_key_adds` (
	`fid` integer NOT NULL,
	`key` blob NOT NULL,
	`hash` blob NOT NULL,
	PRIMARY KEY(`fid`, `key`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `trie_opaque` (
	`shard` integer NOT NULL,
	`account` blob NOT NULL,
	`nibble` integer NOT NULL,
	`root` blob NOT NULL,
	`keys` integer NOT NULL,
	PRIMARY KEY(`shard`, `account`, `nibble`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `trie_shards` (
	`shard` integer PRIMARY KEY NOT NULL,
	`proven_height` integer,
	`proven_at` integer,
	`mismatch_height` integer,
	`mismatches` integer NOT NULL
);
