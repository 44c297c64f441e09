CREATE TABLE `thread_notifications` (
	`fid` integer NOT NULL,
	`root_parent_url` text NOT NULL,
	`timestamp` integer NOT NULL,
	`kind` integer NOT NULL,
	`actor_fid` integer NOT NULL,
	`ref` blob NOT NULL,
	PRIMARY KEY(`fid`, `root_parent_url`, `timestamp`, `kind`, `actor_fid`, `ref`)
) WITHOUT ROWID;

--> statement-breakpoint
INSERT INTO `thread_notifications` (`fid`, `root_parent_url`, `timestamp`, `kind`, `actor_fid`, `ref`)
SELECT n.fid, CASE WHEN c.root_hash IS NULL THEN c.parent_url ELSE c.root_parent_url END, n.timestamp, n.kind, n.actor_fid, n.ref
FROM `notifications` n INDEXED BY `notifications_of_casts` CROSS JOIN `casts` c ON c.hash = n.ref AND c.fid = n.actor_fid
WHERE n.kind < 3 AND CASE WHEN c.root_hash IS NULL THEN c.parent_url ELSE c.root_parent_url END IS NOT NULL;
