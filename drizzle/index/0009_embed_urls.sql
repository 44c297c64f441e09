CREATE TABLE `cast_embed_urls` (
	`url` text NOT NULL,
	`timestamp` integer NOT NULL,
	`hash` blob NOT NULL,
	PRIMARY KEY(`url`, `timestamp`, `hash`)
) WITHOUT ROWID;

--> statement-breakpoint
INSERT OR IGNORE INTO `cast_embed_urls` (`url`, `timestamp`, `hash`)
SELECT j.value ->> 'url', c.timestamp, c.hash FROM `casts` c, json_each(c.embeds) j WHERE j.value ->> 'url' IS NOT NULL;
