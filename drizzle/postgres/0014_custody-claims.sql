ALTER TABLE "custodies" ADD COLUMN "node_id" text COLLATE "C";
--> statement-breakpoint
ALTER TABLE "custodies" ADD COLUMN "claims" text COLLATE "C";
