import { readFileSync, statSync } from "node:fs";

const MAX_FILE_BYTES = 1024 * 1024;

/**
 * The text of a file of settings; undefined when there is none.
 *
 * @throws when there is one that cannot be read, or that has more than 1 MiB.
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
