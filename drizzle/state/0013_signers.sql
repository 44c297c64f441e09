CREATE TABLE `audit_entries` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`at_ms` integer NOT NULL,
	`owner_fid` integer NOT NULL,
	`action` text NOT NULL,
	`api_key_id` text,
	`signer_uuid` text,
	`user_fid` integer,
	`hash` blob,
	`outcome` text NOT NULL,
	`request_id` text NOT NULL,
	`address` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_entries_by_owner` ON `audit_entries` (`owner_fid`,`at_ms`,`seq`);--> statement-breakpoint
CREATE INDEX `audit_entries_by_time` ON `audit_entries` (`at_ms`);--> statement-breakpoint
CREATE TABLE `managed_signers` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`signer_uuid` text NOT NULL,
	`owner_fid` integer NOT NULL,
	`public_key` blob NOT NULL,
	`sealed` blob NOT NULL,
	`key_id` text NOT NULL,
	`permissions` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`fid` integer,
	`approved_at` integer,
	`approved_by` text,
	`approved_blocks` text,
	`app_fid` integer,
	`request_deadline` integer,
	`request_signature` blob,
	`gasless_signature` blob,
	`redirect_url` text,
	`request_id` blob,
	`token_digest` blob,
	`submitted_fid` integer,
	`submitted_request_fid` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `managed_signers_signer_uuid_unique` ON `managed_signers` (`signer_uuid`);--> statement-breakpoint
CREATE UNIQUE INDEX `managed_signers_public_key_unique` ON `managed_signers` (`public_key`);--> statement-breakpoint
CREATE UNIQUE INDEX `managed_signers_token_digest_unique` ON `managed_signers` (`token_digest`);--> statement-breakpoint
CREATE INDEX `managed_signers_by_owner` ON `managed_signers` (`owner_fid`,`seq`);--> statement-breakpoint
CREATE INDEX `managed_signers_by_fid` ON `managed_signers` (`fid`,`seq`) WHERE fid IS NOT NULL;--> statement-breakpoint
CREATE INDEX `managed_signers_by_key_id` ON `managed_signers` (`key_id`,`seq`);--> statement-breakpoint
CREATE TABLE `one_time_nonces` (
	`nonce` text PRIMARY KEY NOT NULL,
	`purpose` text NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `one_time_nonces_by_expiry` ON `one_time_nonces` (`expires_at`);