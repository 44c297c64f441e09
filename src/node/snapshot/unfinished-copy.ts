import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const UNFINISHED = "-copy-";

/**
 * Returns the name of a database's copy until it is complete and gets its final name. The copying process may outlive the process that
 * started it, if that is killed. With a fixed name, the next copy would share its journal, and lose it.
 */
export function unfinishedCopyOf(path: string): string {
  return `${path}${UNFINISHED}${randomBytes(4).toString("hex")}`;
}

/** Deletes the unfinished copies of a path and their journals. */
export function deleteUnfinishedCopies(path: string): void {
  const dir = dirname(path);
  if (!existsSync(dir)) return;
  const prefix = `${basename(path)}${UNFINISHED}`;
  for (const name of readdirSync(dir)) if (name.startsWith(prefix)) rmSync(join(dir, name), { force: true });
}
