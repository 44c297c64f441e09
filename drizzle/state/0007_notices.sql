CREATE TABLE `notice_channels` (
	`channel_id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`label` text NOT NULL,
	`host` text NOT NULL,
	`secret` blob NOT NULL,
	`key_id` text NOT NULL,
	`severity` text NOT NULL,
	`checks` text NOT NULL,
	`quiet` text,
	`created_at` integer NOT NULL,
	`due_at` integer,
	`leased_until` integer NOT NULL,
	`claims` integer NOT NULL,
	`attempts` integer NOT NULL,
	`hour` integer NOT NULL,
	`sent` integer NOT NULL,
	`last_at` integer,
	`last_error` text
);
--> statement-breakpoint
CREATE INDEX `notice_channels_due` ON `notice_channels` (`due_at`);
--> statement-breakpoint
CREATE TABLE `notices` (
	`channel_id` text NOT NULL,
	`incident_id` text NOT NULL,
	`sent_at` integer NOT NULL,
	`due_at` integer NOT NULL,
	`content` text NOT NULL,
	PRIMARY KEY(`channel_id`, `incident_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `vapid_keys` (
	`public_key` text PRIMARY KEY NOT NULL,
	`secret` blob NOT NULL,
	`key_id` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `incidents` ADD `unsent_at` integer;
--> statement-breakpoint
ALTER TABLE `incidents` ADD `sent_state` text;
--> statement-breakpoint
ALTER TABLE `incidents` ADD `sent_at` integer;
--> statement-breakpoint
CREATE INDEX `incidents_unsent` ON `incidents` (`unsent_at`) WHERE unsent_at IS NOT NULL;
