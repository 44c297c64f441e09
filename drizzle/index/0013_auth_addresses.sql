UPDATE OR REPLACE `signers` SET `key` = unhex('000000000000000000000000' || hex(`key`)) WHERE length(`key`) = 20;--> statement-breakpoint
CREATE INDEX `signers_auth_addresses` ON `signers` (`fid`,`key`) WHERE key_type = 2 AND state = 1;
