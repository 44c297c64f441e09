import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileInto } from "./program.ts";

const ROOT = join(import.meta.dir, "../..");

/** Everything that the compiled program is made of. The lock file stands for the packages. */
const SOURCES = "{src,drizzle}/**/*";
const SETTINGS = ["build.ts", "package.json", "bun.lock"];

/** Of directories in the system's directory for temporary files, one for each state of the sources. */
const PREFIX = `svc-test-program-${process.getuid?.() ?? 0}-`;
/** How long a program stays that no test has asked for. */
const MAX_IDLE_MS = 60 * 60_000;

/** Programs are apart from the other files of tests, which may be in memory. */
const PARENT = process.env.SVC_TEST_DISK ?? tmpdir();

/** Names the program, also for test files that share no modules with the one that asked first. */
const KNOWN = "SVC_TEST_PROGRAM";

/**
 * The command of the compiled program. It lies apart from the checkout, and is built once for each state of the sources:
 * a node starts from it with a quarter of the CPU time that it needs from the sources.
 */
export const compiledProgram: readonly string[] = [await program()];

async function program(): Promise<string> {
  const dir = process.env[KNOWN] ?? join(PARENT, `${PREFIX}${hashOfSources()}`);
  const path = join(dir, "svc");
  if (!existsSync(path)) await build(dir);
  utimesSync(dir, new Date(), new Date());
  process.env[KNOWN] = dir;
  return path;
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

/** Builds aside and renames, because several test processes may do it at once. */
async function build(dir: string): Promise<void> {
  removeIdle();
  const aside = mkdtempSync(join(PARENT, `${PREFIX}new-`));
  try {
    await compileInto(aside);
    renameSync(aside, dir);
  } catch (cause) {
    // Another process may have been first.
    if (!existsSync(dir)) throw cause;
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

function removeIdle(): void {
  for (const name of readdirSync(PARENT).filter((name) => name.startsWith(PREFIX))) {
    const path = join(PARENT, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats && Date.now() - stats.mtimeMs > MAX_IDLE_MS) rmSync(path, { recursive: true, force: true });
  }
}
