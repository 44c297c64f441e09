CREATE TABLE `sign_in_nonce_key` (
	`id` integer PRIMARY KEY NOT NULL,
	`value` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `signin_keys` (
	`kid` text PRIMARY KEY NOT NULL,
	`algorithm` text NOT NULL,
	`public_jwk` text NOT NULL,
	`sealed` blob NOT NULL,
	`key_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`current_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `signin_keys_by_time` ON `signin_keys` (`current_at`,`kid`);
--> statement-breakpoint
CREATE TABLE `one_time` (
	`digest` blob PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`payload` text NOT NULL,
	`result` text,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `one_time_by_kind` ON `one_time` (`kind`,`expires_at`);
--> statement-breakpoint
CREATE INDEX `one_time_by_expiry` ON `one_time` (`expires_at`);
--> statement-breakpoint
CREATE TABLE `login_clients` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`client_id` text NOT NULL,
	`owner_fid` integer NOT NULL,
	`name` text NOT NULL,
	`origins` text NOT NULL,
	`redirect_uris` text NOT NULL,
	`permissions` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `login_clients_client_id_unique` ON `login_clients` (`client_id`);
--> statement-breakpoint
CREATE INDEX `login_clients_by_owner` ON `login_clients` (`owner_fid`);
