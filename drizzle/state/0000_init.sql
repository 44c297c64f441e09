CREATE TABLE `apps` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`app_id` text NOT NULL,
	`owner_fid` integer NOT NULL,
	`name` text NOT NULL,
	`app_url` text NOT NULL,
	`description` text,
	`signer_fid_allowlist` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `apps_app_id_unique` ON `apps` (`app_id`);--> statement-breakpoint
CREATE INDEX `apps_by_owner` ON `apps` (`owner_fid`);--> statement-breakpoint
CREATE TABLE `secrets` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`holder` text NOT NULL,
	`uid` text NOT NULL,
	`value` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `secrets_uid_unique` ON `secrets` (`uid`);--> statement-breakpoint
CREATE INDEX `secrets_by_holder` ON `secrets` (`holder`);--> statement-breakpoint
CREATE TABLE `webhooks` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`webhook_id` text NOT NULL,
	`owner_fid` integer NOT NULL,
	`title` text NOT NULL,
	`target_url` text NOT NULL,
	`description` text,
	`active` integer NOT NULL,
	`subscription` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhooks_webhook_id_unique` ON `webhooks` (`webhook_id`);--> statement-breakpoint
CREATE INDEX `webhooks_by_owner` ON `webhooks` (`owner_fid`);--> statement-breakpoint
CREATE TABLE `nonces` (
	`fid` integer NOT NULL,
	`nonce` blob NOT NULL,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`fid`, `nonce`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `nonces_by_expiry` ON `nonces` (`expires_at`);