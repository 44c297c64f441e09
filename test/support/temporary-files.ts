import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { IS_LONG } from "./long.ts";

/**
 * Runs ahead of the tests of each process (`bunfig.toml`): their temporary files are in memory where the machine has room, because the
 * small commits of tests wait for a disk a fifth of the time. What SQLite does is the same. The long form uses the disk.
 */

const MEMORY = "/dev/shm";
const PREFIX = "svc-test-";
const MIN_FREE_BYTES = 2e9;
/** Names the directory of the disk, also for test files that share no modules with this one. */
const DISK = "SVC_TEST_DISK";

if (process.env[DISK] === undefined) {
  process.env[DISK] = tmpdir();
  if (!IS_LONG && isUsable()) {
    removeLeft();
    const dir = join(MEMORY, `${PREFIX}${process.pid}`);
    mkdirSync(dir);
    process.env.TMPDIR = dir;
    process.on("exit", () => rmSync(dir, { recursive: true, force: true }));
  }
}

/** Whether the directory is there, may have programs, and has room, as the machine has memory. */
function isUsable(): boolean {
  try {
    accessSync(MEMORY, constants.W_OK);
    const mount = readFileSync("/proc/mounts", "utf8").match(/^\S+ \/dev\/shm tmpfs (\S+)/m);
    const availableKb = Number(
      /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync("/proc/meminfo", "utf8"))?.[1],
    );
    const { bavail, bsize } = statfsSync(MEMORY);
    const freeBytes = Math.min(bavail * bsize, availableKb * 1024);
    return mount !== null && !mount[1]?.split(",").includes("noexec") && freeBytes >= MIN_FREE_BYTES;
  } catch {
    return false;
  }
}

/** Removes what killed processes left. */
function removeLeft(): void {
  for (const name of readdirSync(MEMORY).filter((name) => name.startsWith(PREFIX))) {
    try {
      process.kill(Number(name.slice(PREFIX.length)), 0);
    } catch {
      rmSync(join(MEMORY, name), { recursive: true, force: true });
    }
  }
}
