-- Nothing has written to the registry before this version, so that it can be made anew.
DROP TABLE `channel_registry`;--> statement-breakpoint
CREATE TABLE `channel_registry` (
	`id` text PRIMARY KEY NOT NULL,
	`registry_id` text NOT NULL,
	`url` text,
	`name` text NOT NULL,
	`name_key` text NOT NULL,
	`image_url` text,
	`description` text,
	`lead_fid` integer,
	`moderator_fids` text NOT NULL,
	`follower_count` integer NOT NULL,
	`created_at` integer,
	`pinned_cast_hash` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `channel_registry_by_registry_id` ON `channel_registry` (`registry_id`);--> statement-breakpoint
CREATE INDEX `channel_registry_by_registry_id_prefix` ON `channel_registry` (registry_id COLLATE NOCASE);--> statement-breakpoint
CREATE INDEX `channel_registry_by_id_prefix` ON `channel_registry` (id COLLATE NOCASE);--> statement-breakpoint
CREATE INDEX `channel_registry_by_name_prefix` ON `channel_registry` (`name_key`);--> statement-breakpoint
DROP INDEX `channel_activity_by_members`;--> statement-breakpoint
CREATE INDEX `channel_activity_by_id_prefix` ON `channel_activity` (id COLLATE NOCASE);--> statement-breakpoint
CREATE INDEX `channel_activity_by_members` ON `channel_activity` (members DESC,`id`);--> statement-breakpoint
CREATE INDEX `notifications_of_casts` ON `notifications` (`fid`,`timestamp`,`kind`,`actor_fid`,`ref`) WHERE kind < 3;