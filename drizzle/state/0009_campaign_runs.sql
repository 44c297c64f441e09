ALTER TABLE `campaigns` ADD `runner` text;--> statement-breakpoint
ALTER TABLE `campaigns` ADD `epoch` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `campaigns` ADD `runs` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `campaigns` ADD `not_before_ms` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `campaigns_unfinished` ON `campaigns` (`seq`) WHERE ended_at IS NULL;