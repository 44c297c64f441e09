import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { UserError } from "../../lib/failure.ts";

const { O_NOFOLLOW: NOFOLLOW, O_NONBLOCK: NONBLOCK } = constants;
const MAX_FILE_BYTES = 1024 * 1024;
/** The second: a file has the name of the directory. */
const MISSING = new Set(["ENOENT", "ENOTDIR"]);
const DATABASES = /\/(lock|[^/]+\.db)(-\w+)?$/;

/** The owner of a file and its permissions. */
export interface FileFacts {
  readonly uid: number;
  readonly gid: number;
  /** Includes the file type. */
  readonly mode: number;
  /** The owner of the symbolic link at its path; undefined if the path is not a link. */
  readonly linkUid?: number | undefined;
}

/**
 * Refuses a database and the lock file of a data directory: closing any descriptor of one would release this process's locks on it.
 *
 * @throws UserError for such a file; errors of the file system.
 */
export function refuseDatabase(path: string): void {
  if (DATABASES.test(realpathSync(path))) throw new UserError(`${path} is a database, or the lock of one`);
}

/**
 * Reads a settings file; undefined if there is none.
 *
 * @param look gets the facts of the file before it is opened, because opening a pipe waits, and again those of the opened file. It may
 * throw.
 * @throws if it cannot be read, is a database, or is larger than 1 MiB.
 */
export function readSmallFile(path: string, look?: (facts: FileFacts) => void): string | undefined {
  const factsOf = ({ uid, gid, mode }: Stats): FileFacts => ({ uid, gid, mode, linkUid });
  let linkUid: number | undefined;
  let file: number;
  try {
    // Done first, because its error shows whether the directory or the file denies access.
    const found = statSync(path);
    const link = lstatSync(path);
    if (link.isSymbolicLink()) linkUid = link.uid;
    look?.(factsOf(found));
    refuseDatabase(path);
    // If something replaces the file meanwhile, it is not followed (link) or waited for (pipe).
    const asFound = (linkUid === undefined ? NOFOLLOW : 0) | (found.isFile() ? NONBLOCK : 0);
    file = openSync(path, constants.O_RDONLY | asFound);
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && MISSING.has(String(cause.code))) return undefined;
    throw cause;
  }
  try {
    const facts = fstatSync(file);
    look?.(factsOf(facts));
    if (facts.size > MAX_FILE_BYTES) throw new Error(`larger than ${MAX_FILE_BYTES} bytes`);
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}
