import { readFileSync, statSync } from "node:fs";

const MAX_FILE_BYTES = 1024 * 1024;

/**
 * Reads a settings file; undefined when there is none.
 *
 * @throws when it cannot be read or is larger than 1 MiB.
 */
export function readSmallFile(path: string): string | undefined {
  try {
    if (statSync(path).size > MAX_FILE_BYTES) throw new Error(`larger than ${MAX_FILE_BYTES} bytes`);
    return readFileSync(path, "utf8");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw cause;
  }
}
