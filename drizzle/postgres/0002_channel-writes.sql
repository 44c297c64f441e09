ALTER TABLE "queued_writes" ADD COLUMN "accepted_block" bigint;
