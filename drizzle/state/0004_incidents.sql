CREATE TABLE `incidents` (
	`incident_id` text PRIMARY KEY NOT NULL,
	`check_id` text NOT NULL,
	`node_id` text NOT NULL,
	`severity` text NOT NULL,
	`sentence` text NOT NULL,
	`opened_at` integer NOT NULL,
	`seen_at` integer NOT NULL,
	`resolved_at` integer,
	`flaps` integer NOT NULL,
	`acked_at` integer,
	`acked_by` text,
	`note` text,
	`muted_until` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `incidents_open` ON `incidents` (`check_id`,`node_id`) WHERE resolved_at IS NULL;
--> statement-breakpoint
CREATE INDEX `incidents_by_time` ON `incidents` (`opened_at`);
--> statement-breakpoint
CREATE INDEX `incidents_of_check` ON `incidents` (`check_id`,`node_id`,`resolved_at`);
--> statement-breakpoint
CREATE INDEX `incidents_by_end` ON `incidents` (`resolved_at`);
