CREATE TABLE "webhook_replays" (
	"replay_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"webhook" bigint NOT NULL,
	"webhook_id" text COLLATE "C" NOT NULL,
	"owner_fid" bigint NOT NULL,
	"scope" text COLLATE "C" NOT NULL,
	"from_at" bigint NOT NULL,
	"to_at" bigint NOT NULL,
	"per_second" bigint NOT NULL,
	"max_sent" bigint NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"reason" text COLLATE "C",
	"sent" bigint NOT NULL,
	"last_created_at" bigint,
	"last_seq" bigint NOT NULL,
	"claimed_by" text COLLATE "C",
	"lease_ends_at" bigint,
	"created_at" bigint NOT NULL,
	"ended_at" bigint
);
--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "replay_id" text COLLATE "C";
--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_replays_running" ON "webhook_replays" USING btree ("webhook") WHERE ended_at IS NULL;
--> statement-breakpoint
CREATE INDEX "webhook_replays_by_end" ON "webhook_replays" USING btree ("ended_at") WHERE ended_at IS NOT NULL;
