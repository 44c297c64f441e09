DROP INDEX `reactions_by_pair`;--> statement-breakpoint
CREATE INDEX `reactions_by_pair` ON `reactions` (`fid`,`target_fid`,`target_hash`,`type`) WHERE target_fid IS NOT NULL;--> statement-breakpoint
CREATE INDEX `casts_by_author_and_parent` ON `casts` (`fid`,`parent_hash`,`timestamp`,`hash`) WHERE parent_hash IS NOT NULL;--> statement-breakpoint
CREATE INDEX `display_name_words_by_fid` ON `display_name_words` (`fid`,`word`);--> statement-breakpoint
CREATE INDEX `follow_counts_by_followers` ON `follow_counts` (`followers`,`fid`);