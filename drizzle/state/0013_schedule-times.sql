ALTER TABLE `schedules` DROP COLUMN `first_due_at`;
