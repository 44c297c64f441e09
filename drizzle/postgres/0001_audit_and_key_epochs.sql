ALTER TABLE "cluster" ADD COLUMN "key_epoch" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "nodes" ADD COLUMN "key_epoch" bigint;--> statement-breakpoint
ALTER TABLE "queued_writes" ADD COLUMN "audit" text;