import { stat, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ownProgram } from "../../runtime/process.ts";
import { grouped } from "../../runtime/progress-line.ts";

/** Where the data directory is, or will be. */
export interface Place {
  /** Absolute. */
  readonly dir: string;
  readonly exists: boolean;
  /** The directory, or the nearest one above it that exists. */
  readonly standsIn: string;
  /** Bytes that this user may still write there; undefined where the file system does not report it. */
  readonly freeBytes: number | undefined;
  /** Its kind, if that matters for a database. */
  readonly fileSystem: FileSystem | undefined;
}

export interface FileSystem {
  readonly name: string;
  /** `remote`: the locks of SQLite do not work reliably; `lost`: the data does not outlive the machine or container. */
  readonly trouble: "remote" | "memory" | "container";
}

/** By the number that statfs(2) reports on Linux. */
const FILE_SYSTEMS: ReadonlyMap<number, FileSystem> = new Map([
  [0x6969, { name: "NFS", trouble: "remote" }],
  [0x517b, { name: "SMB", trouble: "remote" }],
  [0xff534d42, { name: "CIFS", trouble: "remote" }],
  [0xfe534d42, { name: "SMB 2", trouble: "remote" }],
  [0x00c36400, { name: "Ceph", trouble: "remote" }],
  [0x01021997, { name: "9P", trouble: "remote" }],
  [0x47504653, { name: "GPFS", trouble: "remote" }],
  [0x0bd00bd0, { name: "Lustre", trouble: "remote" }],
  [0x01021994, { name: "tmpfs", trouble: "memory" }],
  [0x858458f6, { name: "ramfs", trouble: "memory" }],
  [0x794c7630, { name: "overlayfs", trouble: "container" }],
]);

/**
 * Asks the system. It may never respond: see `askPlace`.
 *
 * @throws the error of the system when the directory, or one above it, may not be read.
 */
export async function placeOf(dataDir: string): Promise<Place> {
  const dir = resolve(dataDir);
  let standsIn = dir;
  while (!(await exists(standsIn)) && dirname(standsIn) !== standsIn) standsIn = dirname(standsIn);
  const { type, bavail, bsize, blocks } = await statfs(standsIn);
  return {
    dir,
    exists: standsIn === dir,
    standsIn,
    freeBytes: blocks > 0 ? bavail * bsize : undefined,
    fileSystem: process.platform === "linux" ? FILE_SYSTEMS.get(type) : undefined,
  };
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw cause;
  }
}

/** The hidden command that finds out about a directory. */
export const PLACE_TASK = "place-task";

/** A file system on the network does not respond at all while its server is down. */
const ANSWER_MS = 5000;

/**
 * Finds out about a directory in a process of its own. What waits for a file system that is dead can often not even be killed, and
 * a process with such a thread does not end.
 *
 * @returns undefined if the file system has not responded by then.
 * @throws Error with the system's reason when the directory, or one above it, may not be read.
 */
export async function askPlace(dataDir: string): Promise<Place | undefined> {
  const child = Bun.spawn([...ownProgram(), PLACE_TASK, resolve(dataDir)], {
    cwd: "/",
    env: {},
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  child.unref();
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => {
    child.kill("SIGKILL");
    late.resolve(undefined);
  }, ANSWER_MS);
  try {
    return await Promise.race([readPlace(child), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** A line about the bytes that this user may still write to the file system of a directory; none where that cannot be known. */
export async function freeLines(dir: string, neededBytes: number): Promise<readonly string[]> {
  const freeBytes = (await askPlace(dir).catch(() => undefined))?.freeBytes;
  if (freeBytes === undefined) return [];
  const free = grouped(freeBytes / 1e6);
  return [
    freeBytes < neededBytes
      ? `free: ${free} MB for ${dir}, which is TOO LITTLE`
      : `free: ${free} MB for ${dir}`,
  ];
}

async function readPlace(child: Bun.Subprocess<"ignore", "pipe", "pipe">): Promise<Place> {
  const [output, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (exitCode !== 0)
    throw new Error(errors.trim().replace(/^error: /, "") || `the check ended with ${exitCode}`);
  return JSON.parse(output) as Place;
}
