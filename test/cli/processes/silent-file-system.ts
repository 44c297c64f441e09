import { closeSync, openSync, readSync, writeSync } from "node:fs";

/**
 * A process: mounts a FUSE at the directory that is its argument, says so, and then takes every request and responds to none, as a
 * file system whose server hangs. What waits for it cannot be killed until this process ends.
 */

const INIT_BYTES = 64;
const HEADER_BYTES = 16;

const [directory = ""] = process.argv.slice(2);
const fuse = openSync("/dev/fuse", "r+");
const options = "fd=3,rootmode=40000,user_id=0,group_id=0,allow_other";
const mounted = Bun.spawnSync(["mount", "-i", "-t", "fuse", "-o", options, "none", directory], {
  stdio: ["ignore", "inherit", "inherit", fuse],
});
if (!mounted.success) process.exit(1);

const request = Buffer.alloc(1024 * 1024);
readSync(fuse, request);
// The first request is the handshake, which the kernel waits for: version 7.23 and nothing special.
const answer = Buffer.alloc(HEADER_BYTES + INIT_BYTES);
answer.writeUInt32LE(answer.length, 0);
request.copy(answer, 8, 8, 16);
answer.writeUInt32LE(7, HEADER_BYTES);
answer.writeUInt32LE(23, HEADER_BYTES + 4);
answer.writeUInt32LE(4096, HEADER_BYTES + 20);
writeSync(fuse, answer);
process.stdout.write("mounted\n");
try {
  for (;;) readSync(fuse, request);
} finally {
  closeSync(fuse);
}
