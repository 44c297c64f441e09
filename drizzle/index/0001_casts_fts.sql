-- Full-text index of live casts, by casts.id. It keeps no text of its own, and drizzle cannot describe it.
CREATE VIRTUAL TABLE `casts_fts` USING fts5(`text`, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2');
