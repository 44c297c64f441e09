DROP INDEX `casts_by_hash`;--> statement-breakpoint
DROP INDEX `casts_by_author_and_parent`;--> statement-breakpoint
CREATE UNIQUE INDEX `casts_by_hash` ON `casts` (`hash`,`fid`);--> statement-breakpoint
CREATE INDEX `casts_by_author_and_parent` ON `casts` (`fid`,`parent_hash`,`parent_fid`,`timestamp`,`hash`) WHERE parent_hash IS NOT NULL;