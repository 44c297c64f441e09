DROP INDEX `incidents_by_time`;
--> statement-breakpoint
ALTER TABLE `incidents` ADD `owner_fid` integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
CREATE INDEX `incidents_by_owner` ON `incidents` (`owner_fid`,`opened_at`);
--> statement-breakpoint
ALTER TABLE `notice_channels` ADD `owner_fid` integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
CREATE INDEX `notice_channels_by_owner` ON `notice_channels` (`owner_fid`,`channel_id`);
--> statement-breakpoint
CREATE INDEX `api_keys_by_end` ON `api_keys` (`expires_at`) WHERE expires_at IS NOT NULL;
--> statement-breakpoint
CREATE INDEX `attempt_stats_failed` ON `attempt_stats` (`starts_at`,`webhook`) WHERE failed > 0;
--> statement-breakpoint
CREATE INDEX `webhook_health_failing` ON `webhook_health` (`failing_since`) WHERE failing_since IS NOT NULL;
--> statement-breakpoint
CREATE INDEX `webhook_health_deactivated` ON `webhook_health` (`deactivated_at`) WHERE deactivated_at IS NOT NULL;
--> statement-breakpoint
CREATE INDEX `schedule_waves_not_sent` ON `schedule_waves` (`due_at_ms`) WHERE state IN ('held', 'missed');
