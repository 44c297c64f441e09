CREATE TABLE `queued_writes` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`owner_fid` integer NOT NULL,
	`api_key_id` text NOT NULL,
	`request` text NOT NULL,
	`position` integer NOT NULL,
	`fid` integer NOT NULL,
	`type` integer NOT NULL,
	`hash` blob NOT NULL,
	`message` blob,
	`state` text NOT NULL,
	`reason` text,
	`accepted` integer NOT NULL,
	`attempts` integer NOT NULL,
	`due_at_ms` integer,
	`lease_ends_at_ms` integer,
	`claimed_by` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `queued_writes_by_due` ON `queued_writes` (`due_at_ms`) WHERE due_at_ms IS NOT NULL;--> statement-breakpoint
CREATE INDEX `queued_writes_by_hash` ON `queued_writes` (`hash`,`owner_fid`);--> statement-breakpoint
CREATE UNIQUE INDEX `queued_writes_by_request` ON `queued_writes` (`request`,`position`);--> statement-breakpoint
CREATE INDEX `queued_writes_by_end` ON `queued_writes` (`updated_at`) WHERE due_at_ms IS NULL;--> statement-breakpoint
CREATE TABLE `write_calls` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`owner_fid` integer NOT NULL,
	`signer_uuid` text NOT NULL,
	`route` text NOT NULL,
	`idem` text NOT NULL,
	`body_digest` blob NOT NULL,
	`request` text NOT NULL,
	`outcomes` text NOT NULL,
	`done` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `write_calls_by_key` ON `write_calls` (`owner_fid`,`signer_uuid`,`route`,`idem`);--> statement-breakpoint
CREATE UNIQUE INDEX `write_calls_by_request` ON `write_calls` (`request`);--> statement-breakpoint
CREATE INDEX `write_calls_by_expiry` ON `write_calls` (`expires_at`);--> statement-breakpoint
CREATE TABLE `write_clocks` (
	`fid` integer NOT NULL,
	`slot` blob NOT NULL,
	`timestamp` integer NOT NULL,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`fid`, `slot`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `write_clocks_by_expiry` ON `write_clocks` (`expires_at`);