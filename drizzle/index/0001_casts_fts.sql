-- Full-text index of live casts, by casts.id. It keeps no text of its own, and drizzle cannot describe it.
-- Prefixes of one and two characters have lists of their own: made while the query runs, a list of them holds a tenth of all words.
CREATE VIRTUAL TABLE `casts_fts` USING fts5(`text`, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2', prefix='1 2');
