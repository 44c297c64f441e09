DROP TABLE `display_name_words`;
--> statement-breakpoint
-- The words of people's usernames, display names and bios, by fid. The words are folded before, and this tokenizer changes none.
CREATE VIRTUAL TABLE `people_fts` USING fts5(`words`, content='', contentless_delete=1, tokenize='ascii', detail=none, prefix='1 2 3 4');
--> statement-breakpoint
-- An index that has people already gets their words at the next start.
INSERT INTO `meta` (`key`, `value`) SELECT 'people', '0' WHERE EXISTS (SELECT 1 FROM `user_data`);
