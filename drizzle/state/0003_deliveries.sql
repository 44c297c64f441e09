CREATE TABLE `deliveries` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`message_id` text NOT NULL,
	`event` integer NOT NULL,
	`webhook` integer NOT NULL,
	`state` text NOT NULL,
	`attempts` integer NOT NULL,
	`created_at` integer NOT NULL,
	`due_at_ms` integer,
	`lease_ends_at_ms` integer,
	`ended_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `deliveries_message_id_unique` ON `deliveries` (`message_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `deliveries_by_event` ON `deliveries` (`event`,`webhook`);--> statement-breakpoint
CREATE INDEX `deliveries_queued` ON `deliveries` (`webhook`,`due_at_ms`) WHERE due_at_ms IS NOT NULL;--> statement-breakpoint
CREATE INDEX `deliveries_leased` ON `deliveries` (`lease_ends_at_ms`) WHERE lease_ends_at_ms IS NOT NULL;--> statement-breakpoint
CREATE INDEX `deliveries_by_state` ON `deliveries` (`webhook`,`state`,`created_at`);--> statement-breakpoint
CREATE INDEX `deliveries_by_end` ON `deliveries` (`ended_at`) WHERE ended_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `delivery_attempts` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`delivery` integer NOT NULL,
	`at_ms` integer NOT NULL,
	`status` integer,
	`error` text,
	`duration_ms` integer NOT NULL,
	`answer` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `delivery_attempts_by_delivery` ON `delivery_attempts` (`delivery`);--> statement-breakpoint
CREATE TABLE `delivery_events` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`event_id` text NOT NULL,
	`kind` text NOT NULL,
	`body` text NOT NULL,
	`is_test` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `delivery_events_event_id_unique` ON `delivery_events` (`event_id`);--> statement-breakpoint
CREATE TABLE `delivery_rates` (
	`webhook` integer NOT NULL,
	`starts_at_ms` integer NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`webhook`, `starts_at_ms`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `delivery_totals` (
	`state` text PRIMARY KEY NOT NULL,
	`count` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `webhook_changes` (
	`version` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`webhook_id` text NOT NULL,
	`deleted_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_changes_webhook_id_unique` ON `webhook_changes` (`webhook_id`);--> statement-breakpoint
CREATE INDEX `webhook_changes_deleted` ON `webhook_changes` (`deleted_at`) WHERE deleted_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `webhook_health` (
	`webhook` integer PRIMARY KEY NOT NULL,
	`queued` integer NOT NULL,
	`last_success_at` integer,
	`last_failure_at` integer,
	`consecutive_failures` integer NOT NULL,
	`failing_since` integer,
	`dropped` integer NOT NULL,
	`deactivated_at` integer,
	`deactivation_reason` text,
	`behind_since_ms` integer,
	`held_until_ms` integer
);
--> statement-breakpoint
-- Every webhook has a row of each, those that are there already too.
INSERT INTO `webhook_health` (`webhook`, `queued`, `consecutive_failures`, `dropped`) SELECT `seq`, 0, 0, 0 FROM `webhooks`;
--> statement-breakpoint
INSERT INTO `webhook_changes` (`webhook_id`) SELECT `webhook_id` FROM `webhooks` ORDER BY `seq`;
