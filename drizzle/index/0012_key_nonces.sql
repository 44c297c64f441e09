ALTER TABLE `gasless_keys` ADD `nonce` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
INSERT INTO `key_nonces` (`fid`, `request_fid`, `nonce`) SELECT 0, `request_fid`, max(`nonce`) FROM `key_nonces` WHERE `request_fid` <> 0 AND `nonce` > 0 GROUP BY `request_fid`;--> statement-breakpoint
DELETE FROM `key_nonces` WHERE `fid` <> 0 AND (`request_fid` <> 0 OR `nonce` = 0);
