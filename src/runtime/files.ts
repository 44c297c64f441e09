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
 * Creates an empty file that only its owner can read and write. An existing file is restricted like in `restrictToOwner`, without opening
 * it: it may be a database, whose locks this process would lose with the descriptor.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "ax", OWNER_ONLY));
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "EEXIST")) throw cause;
    restrictToOwner(path);
  }
}

/** Writes a file that only its owner can read, atomically: a crash leaves the previous content, or no file if there was none. */
export function writePrivateFile(path: string, content: string): void {
  const draft = `${path}.new`;
  createPrivateFile(draft);
  writeFileSync(draft, content, { mode: OWNER_ONLY });
  renameSync(draft, path);
}

/** Removes all permissions of a file except its owner's. Does nothing if the file does not exist. */
export function restrictToOwner(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found || (found.mode & OTHERS) === 0) return;
  try {
    chmodSync(path, OWNER_ONLY);
  } catch {
    // For another user's file, or a file system without modes, the permissions are the administrator's decision.
  }
}

/**
 * If run as root, gives a file to the owner and group of the file that it will replace, so that commands run by an administrator leave a
 * service's files to the service.
 */
export function giveToOwnerOf(model: string, path: string): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = statSync(model);
  const own = statSync(path);
  if (own.uid !== uid || own.gid !== gid) chownSync(path, uid, gid);
}

/** Error codes of file systems, such as SMB, that cannot sync a directory. */
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
