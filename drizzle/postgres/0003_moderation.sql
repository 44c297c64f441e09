CREATE TABLE "app_bans" (
	"owner_fid" bigint NOT NULL,
	"fid" bigint NOT NULL,
	"banned_at" bigint NOT NULL,
	"by_key_id" text COLLATE "C",
	CONSTRAINT "app_bans_owner_fid_fid_pk" PRIMARY KEY("owner_fid","fid")
);
--> statement-breakpoint
CREATE TABLE "private_mutes" (
	"owner_fid" bigint NOT NULL,
	"fid" bigint NOT NULL,
	"muted_fid" bigint NOT NULL,
	"muted_at" bigint NOT NULL,
	CONSTRAINT "private_mutes_owner_fid_fid_muted_fid_pk" PRIMARY KEY("owner_fid","fid","muted_fid")
);
--> statement-breakpoint
CREATE TABLE "rules_versions" (
	"owner_fid" bigint NOT NULL,
	"version" bigint NOT NULL,
	CONSTRAINT "rules_versions_owner_fid_pk" PRIMARY KEY("owner_fid")
);
--> statement-breakpoint
CREATE INDEX "app_bans_by_time" ON "app_bans" USING btree ("owner_fid","banned_at","fid");
--> statement-breakpoint
CREATE INDEX "private_mutes_by_time" ON "private_mutes" USING btree ("owner_fid","fid","muted_at","muted_fid");
