import { becomeOwnerOf } from "../runtime/become-owner.ts";
import type { Common } from "../runtime/common.ts";
import { type DataDir, openDataDir } from "../runtime/data-dir.ts";

/**
 * Locks the data directory of a task until its end. A process of root becomes one of the user of the directory, so it can read only
 * what that user can read.
 *
 * @throws as `becomeOwnerOf` and `openDataDir`.
 */
export function openTaskDataDir(
  { config, log, shutdown }: Pick<Common, "config" | "log" | "shutdown">,
  options: Parameters<typeof openDataDir>[1] = {},
): DataDir {
  const user = becomeOwnerOf(config.data.dir);
  if (user) log.info(user, "Became the user of the data directory, who may read fewer files than root");
  const dataDir = openDataDir(config.data.dir, options);
  shutdown.add("data directory", () => dataDir.release());
  return dataDir;
}
