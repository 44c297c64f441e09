DROP INDEX "incidents_by_time";
--> statement-breakpoint
ALTER TABLE "incidents" ADD COLUMN "owner_fid" bigint DEFAULT 0 NOT NULL;
--> statement-breakpoint
ALTER TABLE "notice_channels" ADD COLUMN "owner_fid" bigint DEFAULT 0 NOT NULL;
--> statement-breakpoint
CREATE INDEX "api_keys_by_end" ON "api_keys" USING btree ("expires_at") WHERE expires_at IS NOT NULL;
--> statement-breakpoint
CREATE INDEX "attempt_stats_failed" ON "attempt_stats" USING btree ("starts_at","webhook") WHERE failed > 0;
--> statement-breakpoint
CREATE INDEX "webhook_health_failing" ON "webhook_health" USING btree ("failing_since") WHERE failing_since IS NOT NULL;
--> statement-breakpoint
CREATE INDEX "webhook_health_deactivated" ON "webhook_health" USING btree ("deactivated_at") WHERE deactivated_at IS NOT NULL;
--> statement-breakpoint
CREATE INDEX "schedule_waves_not_sent" ON "schedule_waves" USING btree ("due_at_ms") WHERE state IN ('held', 'missed');
--> statement-breakpoint
CREATE INDEX "incidents_by_owner" ON "incidents" USING btree ("owner_fid","opened_at");
--> statement-breakpoint
CREATE INDEX "notice_channels_by_owner" ON "notice_channels" USING btree ("owner_fid","channel_id");
