CREATE TABLE "sign_in_nonce_key" (
	"id" integer PRIMARY KEY NOT NULL,
	"value" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "signin_keys" (
	"kid" text COLLATE "C" PRIMARY KEY NOT NULL,
	"algorithm" text COLLATE "C" NOT NULL,
	"public_jwk" text COLLATE "C" NOT NULL,
	"sealed" "bytea" NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"current_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "signin_keys_by_time" ON "signin_keys" USING btree ("current_at","kid");
--> statement-breakpoint
CREATE TABLE "one_time" (
	"digest" "bytea" PRIMARY KEY NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"payload" text COLLATE "C" NOT NULL,
	"result" text COLLATE "C",
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "one_time_by_kind" ON "one_time" USING btree ("kind","expires_at");
--> statement-breakpoint
CREATE INDEX "one_time_by_expiry" ON "one_time" USING btree ("expires_at");
