import { stat } from "node:fs/promises";

/** Codes of the system that say that there is nothing at a path. */
const GONE_CODES = new Set(["ENOENT", "ENOTDIR"]);

/**
 * Remembers the files and directories at some paths, by device and inode.
 *
 * @returns a check: what became of the first one that is no longer the same, for people; undefined while all are. A file
 *   system that does not answer the question leaves it open.
 */
export async function watchForReplacement(
  paths: readonly string[],
): Promise<() => Promise<string | undefined>> {
  const remembered = await Promise.all(paths.map(async (path) => ({ path, id: await identityOf(path) })));
  return async () => {
    for (const { path, id } of remembered) {
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
