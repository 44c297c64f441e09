INSERT INTO "state_clock" ("id", "now_secs", "nonce_floor") VALUES (1, 0, 0);
--> statement-breakpoint
CREATE SEQUENCE "delivery_attempts_seq";
--> statement-breakpoint
-- The outcome of each attempt. An identity column is refused on a partitioned table before PostgreSQL 17.
CREATE TABLE "delivery_attempts" (
	"seq" bigint DEFAULT nextval('delivery_attempts_seq') NOT NULL,
	"delivery" bigint NOT NULL,
	"at_ms" bigint NOT NULL,
	"status" integer,
	"error" text COLLATE "C",
	"duration_ms" bigint NOT NULL,
	"answer" text COLLATE "C" NOT NULL,
	PRIMARY KEY ("at_ms", "seq")
) PARTITION BY RANGE ("at_ms");
--> statement-breakpoint
CREATE TABLE "delivery_attempts_default" PARTITION OF "delivery_attempts" DEFAULT;
--> statement-breakpoint
CREATE INDEX "delivery_attempts_by_delivery" ON "delivery_attempts" ("delivery");
--> statement-breakpoint
CREATE SEQUENCE "audit_entries_seq";
--> statement-breakpoint
-- What API keys, managed signers and writes have done, as `auditEntries` in `src/audit/audit-store.ts`.
CREATE TABLE "audit_entries" (
	"seq" bigint DEFAULT nextval('audit_entries_seq') NOT NULL,
	"at_ms" bigint NOT NULL,
	"owner_fid" bigint NOT NULL,
	"action" text COLLATE "C" NOT NULL,
	"api_key_id" text COLLATE "C",
	"signer_uuid" text COLLATE "C",
	"user_fid" bigint,
	"hash" bytea,
	"record_id" text COLLATE "C",
	"outcome" text COLLATE "C" NOT NULL,
	"request_id" text COLLATE "C" NOT NULL,
	"address" text COLLATE "C" NOT NULL,
	PRIMARY KEY ("at_ms", "seq")
) PARTITION BY RANGE ("at_ms");
--> statement-breakpoint
CREATE TABLE "audit_entries_default" PARTITION OF "audit_entries" DEFAULT;
--> statement-breakpoint
CREATE INDEX "audit_entries_by_owner" ON "audit_entries" ("owner_fid", "at_ms", "seq");
--> statement-breakpoint
CREATE INDEX "audit_entries_of_records" ON "audit_entries" ("owner_fid", "at_ms", "seq") WHERE "record_id" IS NOT NULL;
--> statement-breakpoint
-- Rows that change often keep free space in their page, so that an update writes no index entry.
ALTER TABLE "deliveries" SET (fillfactor = 75, autovacuum_vacuum_scale_factor = 0.02);
--> statement-breakpoint
ALTER TABLE "webhook_health" SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
--> statement-breakpoint
ALTER TABLE "nonces" SET (autovacuum_vacuum_scale_factor = 0.02);
--> statement-breakpoint
ALTER TABLE "token_changes" SET (fillfactor = 75, autovacuum_vacuum_scale_factor = 0.02);
--> statement-breakpoint
ALTER TABLE "campaigns" SET (fillfactor = 75, autovacuum_vacuum_scale_factor = 0.02);
--> statement-breakpoint
ALTER TABLE "dedupe" SET (fillfactor = 75, autovacuum_vacuum_scale_factor = 0.02);
--> statement-breakpoint
ALTER TABLE "dedupe_keys" SET (fillfactor = 75, autovacuum_vacuum_scale_factor = 0.02);
