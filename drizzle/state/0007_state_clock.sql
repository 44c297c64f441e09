CREATE TABLE `state_clock` (
	`id` integer PRIMARY KEY NOT NULL,
	`now_secs` integer NOT NULL,
	`nonce_floor` integer NOT NULL
);
