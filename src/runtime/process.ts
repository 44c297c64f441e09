import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { reasonOf, UserError } from "../lib/failure.ts";

/** The file descriptors of the process. All threads share them: connections, databases, outgoing calls. */
export interface Descriptors {
  /** The number from which on no connections are accepted. The rest of the limit is for databases and outgoing calls. */
  readonly cap: number;
  /** The limit of the process. */
  readonly limit: number;
  /** Returns the number of open descriptors. Takes a few microseconds. */
  open(): number;
}

/** The fraction of the limit that stays free, enough for a burst of connections between two checks. */
const FREE_SHARE = 1 / 4;
const MIN_FREE = 32;
const MAX_FREE = 1024;

const OPEN_DESCRIPTORS = "/proc/self/fd";

/** Returns the descriptors of this process; undefined if the system has no limit or does not report it. */
export function processDescriptors(): Descriptors | undefined {
  const limit = openFilesLimit();
  if (limit === undefined) return undefined;
  const free = Math.min(Math.max(Math.floor(limit * FREE_SHARE), MIN_FREE), MAX_FREE);
  // Since Linux 6.2 the size of the directory is the number of its entries; before that, it is 0.
  const open = () => statSync(OPEN_DESCRIPTORS).size || readdirSync(OPEN_DESCRIPTORS).length;
  return { cap: limit - free, limit, open };
}

/** A node at rest has about 50 open, up to a hundred on a large machine. */
const MIN_LIMIT = 128;

/**
 * Refuses a limit of descriptors with which a node would start and then never accept a connection.
 *
 * @throws UserError
 */
export function requireDescriptors(): void {
  const limit = openFilesLimit() ?? MIN_LIMIT;
  if (limit >= MIN_LIMIT) return;
  throw new UserError(
    `this process may have ${limit} open files, and a node needs at least ${MIN_LIMIT}: raise \`ulimit -n\`, or LimitNOFILE= of its unit`,
  );
}

/** Returns the soft limit. Bun raises it to the hard limit at startup. */
function openFilesLimit(): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

/** The path of files in a compiled program. */
const COMPILED = "/$bunfs/";

/** Returns the command that starts this program again: the compiled binary, or the runtime with the sources. */
export function ownProgram(): readonly string[] {
  if (import.meta.dir.startsWith(COMPILED)) return [process.execPath];
  return [process.execPath, join(import.meta.dir, "../main.ts")];
}

const ROOT = 0;

/** A user of the system and a group. */
interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Turns a root process into one of the user and group that own a directory, permanently and with all its threads and children. What it
 * creates then belongs to that user from the start: with chown, kill -9 at the wrong moment would leave a file that the user cannot open.
 * Does nothing for other users, for a directory of root, and for a missing one.
 *
 * @returns the user that the process has become.
 * @throws UserError if the process lacks the necessary capabilities.
 */
export function becomeOwnerOf(dir: string): SystemUser | undefined {
  if (process.geteuid?.() !== ROOT) return undefined;
  const found = statSync(dir, { throwIfNoEntry: false });
  if (!found || found.uid === ROOT) return undefined;
  const { uid, gid } = found;
  try {
    // Drops root's supplementary groups.
    process.setgroups?.([gid]);
    process.setgid?.(gid);
    process.setuid?.(uid);
  } catch (cause) {
    throw new UserError(
      `${dir} belongs to the user ${uid}, and root may not become that user here: ${reasonOf(cause)}. Run the command as that user`,
      { cause },
    );
  }
  return { uid, gid };
}
