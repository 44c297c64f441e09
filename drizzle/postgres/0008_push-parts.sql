CREATE TABLE "audience_cohorts" (
	"app_id" text COLLATE "C" NOT NULL,
	"week" bigint NOT NULL,
	"age" bigint NOT NULL,
	"slot" integer NOT NULL,
	"count" bigint NOT NULL,
	CONSTRAINT "audience_cohorts_app_id_week_age_slot_pk" PRIMARY KEY("app_id","week","age","slot")
);
--> statement-breakpoint
CREATE TABLE "campaign_departures" (
	"campaign" bigint NOT NULL,
	"fid" bigint NOT NULL,
	"client_fid" bigint NOT NULL,
	CONSTRAINT "campaign_departures_campaign_fid_pk" PRIMARY KEY("campaign","fid")
);
--> statement-breakpoint
ALTER TABLE "campaigns" ADD COLUMN "schedule" bigint;
--> statement-breakpoint
CREATE INDEX "audience_cohorts_by_week" ON "audience_cohorts" USING btree ("week");
--> statement-breakpoint
CREATE INDEX "campaigns_of_schedule" ON "campaigns" USING btree ("schedule","seq") WHERE schedule IS NOT NULL;
