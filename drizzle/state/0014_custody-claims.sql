ALTER TABLE `custodies` ADD `node_id` text;
--> statement-breakpoint
ALTER TABLE `custodies` ADD `claims` text;
