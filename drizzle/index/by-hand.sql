-- What drizzle cannot describe.
-- Full-text index of live casts, by casts.id. It keeps no text of its own, and no positions: phrases are checked in the text.
-- Prefixes of one and two characters have lists of their own: made while the query runs, a list of them holds a tenth of all words.
CREATE VIRTUAL TABLE `casts_fts` USING fts5(`text`, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2', detail=none, prefix='1 2');
--> statement-breakpoint
CREATE INDEX `casts_by_hash` ON `casts` (substr(`hash`, 1, 6));
--> statement-breakpoint
CREATE INDEX `missing_casts_by_hash` ON `missing_casts` (substr(`hash`, 1, 6));
