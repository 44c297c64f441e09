CREATE TABLE "custodies" (
	"fid" bigint PRIMARY KEY NOT NULL,
	"custody" "bytea" NOT NULL,
	"block_number" bigint NOT NULL,
	"log_index" bigint NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "custodies_by_expiry" ON "custodies" USING btree ("expires_at");
