ALTER TABLE `queued_writes` ADD `accepted_block` integer;
