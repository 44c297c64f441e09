import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");

/** Everything that the program is made of, the pages that it serves to agents included. The lock file stands for the packages. */
const SOURCES = "{src,drizzle,docs}/**/*";
const SETTINGS = ["build.ts", "package.json", "bun.lock"];

/** Of directories in the system's directory for temporary files, one for each state of the sources. */
const PREFIX = `svc-test-kept-${process.getuid?.() ?? 0}-`;
/** How long a directory stays that no test has asked for. */
const MAX_IDLE_MS = 60 * 60_000;

/** Apart from the other files of tests, which may be in memory. */
const PARENT = process.env.SVC_TEST_DISK ?? tmpdir();

/** Names the directory, also for test files that share no modules with the one that asked first. */
const KNOWN = "SVC_TEST_KEPT";

/** How often a process looks whether another one has made the directory. */
const POLL_MS = 100;

/**
 * Returns a directory that tests of all processes share: made once for each state of the sources, and apart from the checkout.
 * @param name what it has.
 * @param make writes the content into an empty directory. The other processes wait for the one that makes it.
 */
export async function keptDirectory(
  name: string,
  make: (dir: string) => Promise<unknown> | unknown,
): Promise<string> {
  const parent = parentDirectory();
  const path = join(parent, name);
  const turn = `${path}.making`;
  while (!existsSync(path) && !takeTurn(turn)) await Bun.sleep(POLL_MS);
  if (existsSync(path)) return path;
  const aside = mkdtempSync(join(parent, "new-"));
  try {
    await make(aside);
    renameSync(aside, path);
  } catch (cause) {
    // Two processes that find the link of a killed one may both have the turn.
    if (!existsSync(path)) throw cause;
  } finally {
    rmSync(aside, { recursive: true, force: true });
    rmSync(turn, { force: true });
  }
  return path;
}

/** Takes the turn to make a directory, unless a process that lives has it: a link whose target is the process. */
function takeTurn(link: string): boolean {
  try {
    symlinkSync(`${process.pid}`, link);
    return true;
  } catch {
    if (!isAlive(makerOf(link))) rmSync(link, { force: true });
    return false;
  }
}

function makerOf(link: string): number {
  try {
    return Number(readlinkSync(link));
  } catch {
    // It has just finished, and the directory is there.
    return process.pid;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as { code?: string }).code === "EPERM";
  }
}

/** Deletes what is kept under names that `isOld` accepts. */
export function removeKept(isOld: (name: string) => boolean): void {
  const parent = parentDirectory();
  for (const old of readdirSync(parent).filter(isOld))
    rmSync(join(parent, old), { recursive: true, force: true });
}

function parentDirectory(): string {
  let dir = process.env[KNOWN];
  if (dir === undefined || !existsSync(dir)) {
    removeIdle();
    dir = join(PARENT, `${PREFIX}${hashOfSources()}`);
    mkdirSync(dir, { recursive: true });
    process.env[KNOWN] = dir;
  }
  utimesSync(dir, new Date(), new Date());
  return dir;
}

function hashOfSources(): string {
  const hash = new Bun.CryptoHasher("sha256");
  hash.update(`${Bun.version} ${Bun.revision} ${process.platform} ${process.arch}`);
  const names = [...new Bun.Glob(SOURCES).scanSync({ cwd: ROOT })].sort();
  for (const name of [...SETTINGS, ...names]) {
    const content = readFileSync(join(ROOT, name));
    hash.update(`\n${name} ${content.length}\n`).update(content);
  }
  return hash.digest("hex").slice(0, 16);
}

function removeIdle(): void {
  for (const name of readdirSync(PARENT).filter((name) => name.startsWith(PREFIX))) {
    const path = join(PARENT, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats && Date.now() - stats.mtimeMs > MAX_IDLE_MS) rmSync(path, { recursive: true, force: true });
  }
}
