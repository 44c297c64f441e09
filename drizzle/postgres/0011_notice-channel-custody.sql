ALTER TABLE "notice_channels" ADD COLUMN "custody" "bytea";
