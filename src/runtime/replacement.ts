import { statSync } from "node:fs";

/** System error codes for a missing path. */
const GONE_CODES = new Set(["ENOENT", "ENOTDIR"]);

/** What happened to a file or directory that a process uses. */
export interface Replacement {
  readonly path: string;
  readonly change: "deleted" | "replaced";
}

/**
 * Records the device and inode of the files and directories at some paths. Those that do not exist yet are recorded by the first check
 * that finds them.
 *
 * @returns a check. It describes the first path that was replaced or deleted since, and returns undefined if there is none. Other errors
 * of the file system are ignored.
 */
export async function watchForReplacement(
  paths: readonly string[],
): Promise<() => Promise<Replacement | undefined>> {
  const recorded = new Map<string, string>();
  const check = async () => {
    for (const path of paths) {
      const known = recorded.get(path);
      try {
        const id = identityOf(path);
        if (known === undefined) recorded.set(path, id);
        else if (known !== id) return { path, change: "replaced" as const };
      } catch (cause) {
        if (known !== undefined && GONE_CODES.has(codeOf(cause))) return { path, change: "deleted" as const };
      }
    }
    return undefined;
  };
  await check();
  return check;
}

/** Synchronous, because each call of a pool would wake two of its threads for what the kernel knows within a microsecond. */
function identityOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev} ${ino}`;
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}
