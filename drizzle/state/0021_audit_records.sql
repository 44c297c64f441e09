ALTER TABLE `audit_entries` ADD `record_id` text;--> statement-breakpoint
CREATE INDEX `audit_entries_of_records` ON `audit_entries` (`owner_fid`,`at_ms`,`seq`) WHERE record_id IS NOT NULL;