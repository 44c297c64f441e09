CREATE TABLE `nonces` (
	`fid` integer NOT NULL,
	`nonce` blob NOT NULL,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`fid`, `nonce`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `nonces_by_expiry` ON `nonces` (`expires_at`);
--> statement-breakpoint
CREATE TABLE `apps` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`app_id` text NOT NULL,
	`owner_fid` integer NOT NULL,
	`name` text NOT NULL,
	`app_url` text NOT NULL,
	`description` text,
	`signer_fid_allowlist` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `apps_app_id_unique` ON `apps` (`app_id`);
--> statement-breakpoint
CREATE INDEX `apps_by_owner` ON `apps` (`owner_fid`);
--> statement-breakpoint
CREATE TABLE `api_keys` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`api_key_id` text NOT NULL,
	`owner_fid` integer NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`prefix` text NOT NULL,
	`scopes` text NOT NULL,
	`app_id` text,
	`active` integer NOT NULL,
	`custody` blob NOT NULL,
	`units_per_minute` integer,
	`writes_per_minute` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`expires_at` integer,
	`last_used_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_api_key_id_unique` ON `api_keys` (`api_key_id`);
--> statement-breakpoint
CREATE INDEX `api_keys_by_owner` ON `api_keys` (`owner_fid`);
--> statement-breakpoint
CREATE TABLE `api_key_usage` (
	`api_key_id` text NOT NULL,
	`day` integer NOT NULL,
	`route` text NOT NULL,
	`requests` integer NOT NULL,
	`units` integer NOT NULL,
	`writes` integer NOT NULL,
	`errors` integer NOT NULL,
	`limited` integer NOT NULL,
	PRIMARY KEY(`api_key_id`, `day`, `route`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `api_key_usage_by_day` ON `api_key_usage` (`day`);
--> statement-breakpoint
CREATE TABLE `rate_buckets` (
	`name` text PRIMARY KEY NOT NULL,
	`full_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `rate_buckets_by_time` ON `rate_buckets` (`full_at_ms`);
--> statement-breakpoint
CREATE TABLE `webhooks` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`webhook_id` text NOT NULL,
	`owner_fid` integer NOT NULL,
	`title` text NOT NULL,
	`target_url` text NOT NULL,
	`description` text,
	`active` integer NOT NULL,
	`subscription` text NOT NULL,
	`compat_prefix` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhooks_webhook_id_unique` ON `webhooks` (`webhook_id`);
--> statement-breakpoint
CREATE INDEX `webhooks_by_owner` ON `webhooks` (`owner_fid`);
--> statement-breakpoint
CREATE TABLE `secrets` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`holder` text NOT NULL,
	`uid` text NOT NULL,
	`value` text NOT NULL,
	`digest` blob NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `secrets_uid_unique` ON `secrets` (`uid`);
--> statement-breakpoint
CREATE INDEX `secrets_by_holder` ON `secrets` (`holder`);
--> statement-breakpoint
CREATE INDEX `secrets_by_digest` ON `secrets` (`digest`);
--> statement-breakpoint
CREATE INDEX `secrets_by_expiry` ON `secrets` (`expires_at`) WHERE expires_at IS NOT NULL;
--> statement-breakpoint
CREATE TABLE `attempt_stats` (
	`webhook` integer NOT NULL,
	`starts_at` integer NOT NULL,
	`duration_class` integer NOT NULL,
	`attempts` integer NOT NULL,
	`delivered` integer NOT NULL,
	`failed` integer NOT NULL,
	PRIMARY KEY(`webhook`, `starts_at`, `duration_class`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `attempt_stats_by_time` ON `attempt_stats` (`starts_at`);
--> statement-breakpoint
CREATE TABLE `deliveries` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`message_id` text NOT NULL,
	`event` integer NOT NULL,
	`webhook` integer NOT NULL,
	`state` text NOT NULL,
	`attempts` integer NOT NULL,
	`created_at` integer NOT NULL,
	`due_at_ms` integer,
	`lease_ends_at_ms` integer,
	`claimed_by` text,
	`ended_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `deliveries_message_id_unique` ON `deliveries` (`message_id`);
--> statement-breakpoint
CREATE UNIQUE INDEX `deliveries_by_event` ON `deliveries` (`event`,`webhook`);
--> statement-breakpoint
CREATE INDEX `deliveries_queued` ON `deliveries` (`webhook`,`due_at_ms`) WHERE due_at_ms IS NOT NULL;
--> statement-breakpoint
CREATE INDEX `deliveries_leased` ON `deliveries` (`lease_ends_at_ms`) WHERE lease_ends_at_ms IS NOT NULL;
--> statement-breakpoint
CREATE INDEX `deliveries_by_state` ON `deliveries` (`webhook`,`state`,`created_at`);
--> statement-breakpoint
CREATE INDEX `deliveries_by_end` ON `deliveries` (`ended_at`) WHERE ended_at IS NOT NULL;
--> statement-breakpoint
CREATE TABLE `delivery_attempts` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`delivery` integer NOT NULL,
	`at_ms` integer NOT NULL,
	`status` integer,
	`error` text,
	`duration_ms` integer NOT NULL,
	`answer` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `delivery_attempts_by_delivery` ON `delivery_attempts` (`delivery`);
--> statement-breakpoint
CREATE TABLE `delivery_events` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`event_id` text NOT NULL,
	`kind` text NOT NULL,
	`body` text NOT NULL,
	`is_test` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `delivery_events_event_id_unique` ON `delivery_events` (`event_id`);
--> statement-breakpoint
CREATE TABLE `delivery_rates` (
	`webhook` integer NOT NULL,
	`starts_at_ms` integer NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`webhook`, `starts_at_ms`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `delivery_totals` (
	`state` text PRIMARY KEY NOT NULL,
	`count` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `webhook_changes` (
	`version` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`webhook_id` text NOT NULL,
	`deleted_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_changes_webhook_id_unique` ON `webhook_changes` (`webhook_id`);
--> statement-breakpoint
CREATE INDEX `webhook_changes_deleted` ON `webhook_changes` (`deleted_at`) WHERE deleted_at IS NOT NULL;
--> statement-breakpoint
CREATE TABLE `webhook_health` (
	`webhook` integer PRIMARY KEY NOT NULL,
	`queued` integer NOT NULL,
	`last_success_at` integer,
	`last_failure_at` integer,
	`consecutive_failures` integer NOT NULL,
	`failing_since` integer,
	`dropped` integer NOT NULL,
	`deactivated_at` integer,
	`deactivation_reason` text,
	`behind_since_ms` integer,
	`held_until_ms` integer
);
--> statement-breakpoint
CREATE TABLE `audience_clients` (
	`app_id` text NOT NULL,
	`client_fid` integer NOT NULL,
	`host` text NOT NULL,
	`state` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`app_id`, `client_fid`, `host`, `state`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `audience_days` (
	`app_id` text NOT NULL,
	`day` integer NOT NULL,
	`change` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`app_id`, `day`, `change`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `audience_days_by_day` ON `audience_days` (`day`);
--> statement-breakpoint
CREATE TABLE `campaign_audiences` (
	`campaign` integer PRIMARY KEY NOT NULL,
	`audience` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `campaign_clients` (
	`campaign` integer NOT NULL,
	`client_fid` integer NOT NULL,
	`tokens` integer NOT NULL,
	`successes` integer NOT NULL,
	PRIMARY KEY(`campaign`, `client_fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `campaign_counts` (
	`campaign` integer NOT NULL,
	`host` text NOT NULL,
	`kind` text NOT NULL,
	`reason` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`campaign`, `host`, `kind`, `reason`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `campaign_failures` (
	`campaign` integer NOT NULL,
	`client_fid` integer NOT NULL,
	`block` integer NOT NULL,
	`fids` blob NOT NULL,
	PRIMARY KEY(`campaign`, `client_fid`, `block`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `campaign_retryable` (
	`campaign` integer NOT NULL,
	`fid` integer NOT NULL,
	PRIMARY KEY(`campaign`, `fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `campaigns` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`campaign_id` text NOT NULL,
	`app_id` text NOT NULL,
	`dedupe_key` integer NOT NULL,
	`notification_id` text NOT NULL,
	`title` text NOT NULL,
	`body` text NOT NULL,
	`target_url` text NOT NULL,
	`status` text NOT NULL,
	`success_count` integer NOT NULL,
	`failure_count` integer NOT NULL,
	`not_attempted_count` integer NOT NULL,
	`audience_count` integer,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`ended_at` integer,
	`runner` text,
	`epoch` integer DEFAULT 0 NOT NULL,
	`runs` integer DEFAULT 0 NOT NULL,
	`not_before_ms` integer DEFAULT 0 NOT NULL,
	`ledger_writes` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `campaigns_campaign_id_unique` ON `campaigns` (`campaign_id`);
--> statement-breakpoint
CREATE INDEX `campaigns_by_app` ON `campaigns` (`app_id`);
--> statement-breakpoint
CREATE INDEX `campaigns_under_way` ON `campaigns` (`app_id`) WHERE ended_at IS NULL;
--> statement-breakpoint
CREATE INDEX `campaigns_unfinished` ON `campaigns` (`seq`) WHERE ended_at IS NULL;
--> statement-breakpoint
CREATE INDEX `campaigns_by_creation` ON `campaigns` (`created_at`);
--> statement-breakpoint
CREATE TABLE `dedupe` (
	`key` integer NOT NULL,
	`client_fid` integer NOT NULL,
	`block` integer NOT NULL,
	`campaign` integer NOT NULL,
	`sent` integer NOT NULL,
	`fids` blob NOT NULL,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`key`, `client_fid`, `block`, `campaign`, `sent`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `dedupe_keys` (
	`key` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`app_id` text NOT NULL,
	`notification_id` text NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `dedupe_keys_by_notification` ON `dedupe_keys` (`app_id`,`notification_id`);
--> statement-breakpoint
CREATE INDEX `dedupe_keys_by_expiry` ON `dedupe_keys` (`expires_at`);
--> statement-breakpoint
CREATE TABLE `token_changes` (
	`app_id` text NOT NULL,
	`fid` integer NOT NULL,
	`changed_at` text NOT NULL,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`app_id`, `fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `token_changes_by_expiry` ON `token_changes` (`expires_at`);
--> statement-breakpoint
CREATE TABLE `token_totals` (
	`state` text PRIMARY KEY NOT NULL,
	`count` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `tokens` (
	`app_id` text NOT NULL,
	`fid` integer NOT NULL,
	`client_fid` integer NOT NULL,
	`url` text,
	`host` text,
	`token` text,
	`enabled` integer NOT NULL,
	`last_event` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`app_id`, `fid`, `client_fid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `tokens_by_host` ON `tokens` (`app_id`,`host`,`fid`,`client_fid`,`url`,`token`) WHERE enabled;
--> statement-breakpoint
CREATE TABLE `node_logs` (
	`node_id` text PRIMARY KEY NOT NULL,
	`log_id` text NOT NULL,
	`reserved_height` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `managed_signers` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`signer_uuid` text NOT NULL,
	`owner_fid` integer NOT NULL,
	`public_key` blob NOT NULL,
	`sealed` blob NOT NULL,
	`key_id` text NOT NULL,
	`permissions` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`fid` integer,
	`approved_at` integer,
	`approved_by` text,
	`approved_blocks` text,
	`app_fid` integer,
	`request_deadline` integer,
	`request_signature` blob,
	`gasless_signature` blob,
	`redirect_url` text,
	`request_id` blob,
	`token_digest` blob,
	`request_used_at` integer,
	`submitted_fid` integer,
	`submitted_request_fid` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `managed_signers_signer_uuid_unique` ON `managed_signers` (`signer_uuid`);
--> statement-breakpoint
CREATE UNIQUE INDEX `managed_signers_public_key_unique` ON `managed_signers` (`public_key`);
--> statement-breakpoint
CREATE UNIQUE INDEX `managed_signers_token_digest_unique` ON `managed_signers` (`token_digest`);
--> statement-breakpoint
CREATE INDEX `managed_signers_by_owner` ON `managed_signers` (`owner_fid`);
--> statement-breakpoint
CREATE INDEX `managed_signers_by_fid` ON `managed_signers` (`fid`) WHERE fid IS NOT NULL;
--> statement-breakpoint
CREATE INDEX `managed_signers_by_key_id` ON `managed_signers` (`key_id`);
--> statement-breakpoint
CREATE TABLE `one_time_nonces` (
	`nonce` text PRIMARY KEY NOT NULL,
	`purpose` text NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `one_time_nonces_by_expiry` ON `one_time_nonces` (`expires_at`);
--> statement-breakpoint
CREATE TABLE `sessions` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`session_id` text NOT NULL,
	`owner_fid` integer NOT NULL,
	`public_key` blob NOT NULL,
	`custody` blob NOT NULL,
	`access` text NOT NULL,
	`label` text NOT NULL,
	`origin` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`last_used_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_session_id_unique` ON `sessions` (`session_id`);
--> statement-breakpoint
CREATE INDEX `sessions_by_owner` ON `sessions` (`owner_fid`);
--> statement-breakpoint
CREATE INDEX `sessions_by_expiry` ON `sessions` (`expires_at`);
--> statement-breakpoint
CREATE TABLE `audit_entries` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`at_ms` integer NOT NULL,
	`owner_fid` integer NOT NULL,
	`action` text NOT NULL,
	`api_key_id` text,
	`signer_uuid` text,
	`user_fid` integer,
	`hash` blob,
	`record_id` text,
	`outcome` text NOT NULL,
	`request_id` text NOT NULL,
	`address` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_entries_by_owner` ON `audit_entries` (`owner_fid`,`at_ms`);
--> statement-breakpoint
CREATE INDEX `audit_entries_of_records` ON `audit_entries` (`owner_fid`,`at_ms`) WHERE record_id IS NOT NULL;
--> statement-breakpoint
CREATE INDEX `audit_entries_by_time` ON `audit_entries` (`at_ms`);
--> statement-breakpoint
CREATE TABLE `queued_writes` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`owner_fid` integer NOT NULL,
	`api_key_id` text NOT NULL,
	`request` text NOT NULL,
	`position` integer NOT NULL,
	`fid` integer NOT NULL,
	`type` integer NOT NULL,
	`hash` blob NOT NULL,
	`message` blob,
	`state` text NOT NULL,
	`reason` text,
	`accepted` integer NOT NULL,
	`attempts` integer NOT NULL,
	`due_at_ms` integer,
	`lease_ends_at_ms` integer,
	`claimed_by` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`audit` text
);
--> statement-breakpoint
CREATE INDEX `queued_writes_by_due` ON `queued_writes` (`due_at_ms`) WHERE due_at_ms IS NOT NULL;
--> statement-breakpoint
CREATE INDEX `queued_writes_by_hash` ON `queued_writes` (`hash`,`owner_fid`);
--> statement-breakpoint
CREATE UNIQUE INDEX `queued_writes_by_request` ON `queued_writes` (`request`,`position`);
--> statement-breakpoint
CREATE INDEX `queued_writes_by_end` ON `queued_writes` (`updated_at`) WHERE due_at_ms IS NULL;
--> statement-breakpoint
CREATE TABLE `write_calls` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`owner_fid` integer NOT NULL,
	`signer_uuid` text NOT NULL,
	`route` text NOT NULL,
	`idem` text NOT NULL,
	`body_digest` blob NOT NULL,
	`request` text NOT NULL,
	`outcomes` text NOT NULL,
	`done` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `write_calls_by_key` ON `write_calls` (`owner_fid`,`signer_uuid`,`route`,`idem`);
--> statement-breakpoint
CREATE UNIQUE INDEX `write_calls_by_request` ON `write_calls` (`request`);
--> statement-breakpoint
CREATE INDEX `write_calls_by_expiry` ON `write_calls` (`expires_at`);
--> statement-breakpoint
CREATE TABLE `write_clocks` (
	`fid` integer NOT NULL,
	`slot` blob NOT NULL,
	`timestamp` integer NOT NULL,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`fid`, `slot`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `write_clocks_by_expiry` ON `write_clocks` (`expires_at`);
--> statement-breakpoint
CREATE TABLE `seen_notifications` (
	`owner_fid` integer NOT NULL,
	`fid` integer NOT NULL,
	`type` text NOT NULL,
	`seen_at` integer NOT NULL,
	PRIMARY KEY(`owner_fid`, `fid`, `type`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `seen_notifications_by_time` ON `seen_notifications` (`seen_at`);
--> statement-breakpoint
CREATE TABLE `switches` (
	`name` text PRIMARY KEY NOT NULL,
	`reason` text NOT NULL,
	`paused_by` text NOT NULL,
	`paused_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `state_clock` (
	`id` integer PRIMARY KEY NOT NULL,
	`now_secs` integer NOT NULL,
	`nonce_floor` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `state_move` (
	`id` integer PRIMARY KEY NOT NULL,
	`destination` text NOT NULL,
	`moved_at` integer NOT NULL
);
