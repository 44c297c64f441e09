import {
  chmodSync,
  chownSync,
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";

const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

/**
 * Creates an empty file that only its owner can read and write. Restricts an existing file like `restrictToOwner`, without
 * opening it: it may be a database, whose locks this process would lose with the descriptor.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "ax", OWNER_ONLY));
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "EEXIST")) throw cause;
    restrictToOwner(path);
  }
}

/** Writes a file that only its owner can read, at once: a crash leaves the previous content or none. */
export function writePrivateFile(path: string, content: string): void {
  const draft = `${path}.new`;
  createPrivateFile(draft);
  writeFileSync(draft, content, { mode: OWNER_ONLY });
  renameSync(draft, path);
}

/** Removes all permissions of a file except its owner's. Does nothing when there is no such file. */
export function restrictToOwner(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found || (found.mode & OTHERS) === 0) return;
  try {
    chmodSync(path, OWNER_ONLY);
  } catch {
    // Another user's file, or a file system without modes: its permissions are the administrator's decision.
  }
}

/**
 * As root, gives a file to the owner and group of another, which it is to replace: what an administrator runs as root leaves the files
 * of a service to the service.
 */
export function giveToOwnerOf(model: string, path: string): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = statSync(model);
  const own = statSync(path);
  if (own.uid !== uid || own.gid !== gid) chownSync(path, uid, gid);
}

/** Errors of file systems, such as SMB, that cannot sync a directory. */
const NO_DIRECTORY_SYNC: ReadonlySet<unknown> = new Set(["EINVAL", "ENOTSUP", "EBADF"]);

/** Syncs a file, or the entries of a directory, to the disk. */
export function syncPath(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } catch (cause) {
    const isUnable = cause instanceof Error && "code" in cause && NO_DIRECTORY_SYNC.has(cause.code);
    if (!isUnable || !fstatSync(handle).isDirectory()) throw cause;
  } finally {
    closeSync(handle);
  }
}
