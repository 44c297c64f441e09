CREATE TABLE "notice_channels" (
	"channel_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"label" text COLLATE "C" NOT NULL,
	"host" text COLLATE "C" NOT NULL,
	"secret" "bytea" NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"severity" text COLLATE "C" NOT NULL,
	"checks" text COLLATE "C" NOT NULL,
	"quiet" text COLLATE "C",
	"created_at" bigint NOT NULL,
	"due_at" bigint,
	"leased_until" bigint NOT NULL,
	"claims" bigint NOT NULL,
	"attempts" bigint NOT NULL,
	"hour" bigint NOT NULL,
	"sent" bigint NOT NULL,
	"last_at" bigint,
	"last_error" text COLLATE "C"
);
--> statement-breakpoint
CREATE TABLE "notices" (
	"channel_id" text COLLATE "C" NOT NULL,
	"incident_id" text COLLATE "C" NOT NULL,
	"sent_at" bigint NOT NULL,
	"due_at" bigint NOT NULL,
	"content" text COLLATE "C" NOT NULL,
	CONSTRAINT "notices_channel_id_incident_id_pk" PRIMARY KEY("channel_id","incident_id")
);
--> statement-breakpoint
CREATE TABLE "vapid_keys" (
	"public_key" text COLLATE "C" PRIMARY KEY NOT NULL,
	"secret" "bytea" NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "incidents" ADD COLUMN "unsent_at" bigint;
--> statement-breakpoint
ALTER TABLE "incidents" ADD COLUMN "sent_state" text COLLATE "C";
--> statement-breakpoint
ALTER TABLE "incidents" ADD COLUMN "sent_at" bigint;
--> statement-breakpoint
CREATE INDEX "notice_channels_due" ON "notice_channels" USING btree ("due_at");
--> statement-breakpoint
CREATE INDEX "incidents_unsent" ON "incidents" USING btree ("unsent_at") WHERE unsent_at IS NOT NULL;
