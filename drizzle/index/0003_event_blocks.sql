ALTER TABLE `event_outbox` ADD `shard` integer;--> statement-breakpoint
ALTER TABLE `event_outbox` ADD `block` integer;--> statement-breakpoint
CREATE INDEX `event_outbox_by_block` ON `event_outbox` (`shard`,`block`) WHERE "event_outbox"."shard" IS NOT NULL;