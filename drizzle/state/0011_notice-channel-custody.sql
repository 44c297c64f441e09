ALTER TABLE `notice_channels` ADD `custody` blob;
