import { closeSync, fstatSync, openSync, readFileSync, statSync } from "node:fs";

const MAX_FILE_BYTES = 1024 * 1024;

/** Whose a file is, and who may do what with it. */
export interface FileFacts {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

/**
 * Reads a settings file; undefined when there is none.
 *
 * @param look gets the facts of the very file that is read, and may throw.
 * @throws when it cannot be read or is larger than 1 MiB.
 */
export function readSmallFile(path: string, look?: (facts: FileFacts) => void): string | undefined {
  let file: number;
  try {
    // First, because its error says whether the directory or the file keeps this user out.
    statSync(path);
    file = openSync(path, "r");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw cause;
  }
  try {
    const facts = fstatSync(file);
    look?.(facts);
    if (facts.size > MAX_FILE_BYTES) throw new Error(`larger than ${MAX_FILE_BYTES} bytes`);
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}
