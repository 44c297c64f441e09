CREATE TABLE `node_logs` (
	`node_id` text PRIMARY KEY NOT NULL,
	`log_id` text NOT NULL,
	`reserved_height` integer NOT NULL
);
