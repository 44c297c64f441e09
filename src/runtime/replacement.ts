import { stat } from "node:fs/promises";

/** System error codes for a missing path. */
const GONE_CODES = new Set(["ENOENT", "ENOTDIR"]);

/**
 * Records the device and inode of the files and directories at some paths.
 *
 * @returns a check. It describes the first path that was replaced or deleted, and returns undefined when there is none. Other
 *   errors of the file system are ignored.
 */
export async function watchForReplacement(
  paths: readonly string[],
): Promise<() => Promise<string | undefined>> {
  const recorded = await Promise.all(paths.map(async (path) => ({ path, id: await identityOf(path) })));
  return async () => {
    for (const { path, id } of recorded) {
      try {
        if ((await identityOf(path)) !== id) return `${path} was replaced`;
      } catch (cause) {
        if (GONE_CODES.has(codeOf(cause))) return `${path} was deleted`;
      }
    }
    return undefined;
  };
}

async function identityOf(path: string): Promise<string> {
  const { dev, ino } = await stat(path, { bigint: true });
  return `${dev} ${ino}`;
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}
