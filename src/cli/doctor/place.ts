import { stat, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ownProgram } from "../../runtime/process.ts";
import { grouped } from "../../runtime/progress-line.ts";

/** The location of an existing or future data directory. */
export interface Place {
  /** Absolute. */
  readonly dir: string;
  readonly exists: boolean;
  /** The directory itself, or its nearest existing parent. */
  readonly standsIn: string;
  /** Bytes that this user may still write there; undefined if the file system does not report it. */
  readonly freeBytes: number | undefined;
  /** The kind of file system, if it matters for a database. */
  readonly fileSystem: FileSystem | undefined;
}

export interface FileSystem {
  readonly name: string;
  /** `remote`: SQLite's locks do not work reliably; `memory` and `container`: the data does not outlive the machine or the container. */
  readonly trouble: "remote" | "memory" | "container";
}

/** By the number that statfs(2) returns on Linux. */
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
 * Examines a directory. The system may never respond: see `askPlace`.
 *
 * @throws the system's error if the directory, or a parent, may not be read.
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

/** The hidden command that examines a directory. */
export const PLACE_TASK = "place-task";

/** A network file system does not respond at all while its server is down. */
const ANSWER_MS = 5000;

/**
 * Examines a directory in a separate process. A thread that waits for a dead file system often cannot even be killed, and a process with
 * such a thread does not end.
 *
 * @returns undefined if the file system has not responded in time.
 * @throws Error with the system's reason if the directory, or a parent, may not be read.
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

/** Returns a line about the bytes that this user may still write to a directory's file system; none if that is unknown. */
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
