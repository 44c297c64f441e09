DROP INDEX `channel_registry_by_name`;--> statement-breakpoint
ALTER TABLE `channel_registry` ADD `registry_id` text NOT NULL;--> statement-breakpoint
ALTER TABLE `channel_registry` ADD `name_key` text NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `channel_registry_by_registry_id` ON `channel_registry` (`registry_id`);--> statement-breakpoint
CREATE INDEX `channel_registry_by_registry_id_prefix` ON `channel_registry` (registry_id COLLATE NOCASE);--> statement-breakpoint
CREATE INDEX `channel_registry_by_id_prefix` ON `channel_registry` (id COLLATE NOCASE);--> statement-breakpoint
CREATE INDEX `channel_registry_by_name_prefix` ON `channel_registry` (`name_key`);--> statement-breakpoint
DROP INDEX `channel_activity_by_members`;--> statement-breakpoint
CREATE INDEX `channel_activity_by_id_prefix` ON `channel_activity` (id COLLATE NOCASE);--> statement-breakpoint
CREATE INDEX `channel_activity_by_members` ON `channel_activity` (members DESC,`id`);--> statement-breakpoint
CREATE INDEX `notifications_of_casts` ON `notifications` (`fid`,`timestamp`,`kind`,`actor_fid`,`ref`) WHERE kind < 3;