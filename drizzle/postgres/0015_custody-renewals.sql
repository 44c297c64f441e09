ALTER TABLE "custodies" ADD COLUMN "acted_at" bigint;
