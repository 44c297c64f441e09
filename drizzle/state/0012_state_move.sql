CREATE TABLE `state_move` (
	`id` integer PRIMARY KEY NOT NULL,
	`destination` text NOT NULL,
	`moved_at` integer NOT NULL
);
