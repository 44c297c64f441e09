ALTER TABLE `custodies` ADD `acted_at` integer;
