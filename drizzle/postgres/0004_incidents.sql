CREATE TABLE "incidents" (
	"incident_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"check_id" text COLLATE "C" NOT NULL,
	"node_id" text COLLATE "C" NOT NULL,
	"severity" text COLLATE "C" NOT NULL,
	"sentence" text COLLATE "C" NOT NULL,
	"opened_at" bigint NOT NULL,
	"seen_at" bigint NOT NULL,
	"resolved_at" bigint,
	"flaps" bigint NOT NULL,
	"acked_at" bigint,
	"acked_by" text COLLATE "C",
	"note" text COLLATE "C",
	"muted_until" bigint
);
--> statement-breakpoint
CREATE UNIQUE INDEX "incidents_open" ON "incidents" USING btree ("check_id","node_id") WHERE resolved_at IS NULL;
--> statement-breakpoint
CREATE INDEX "incidents_by_time" ON "incidents" USING btree ("opened_at");
--> statement-breakpoint
CREATE INDEX "incidents_of_check" ON "incidents" USING btree ("check_id","node_id","resolved_at");
--> statement-breakpoint
CREATE INDEX "incidents_by_end" ON "incidents" USING btree ("resolved_at");
