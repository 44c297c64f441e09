import { readdirSync, readFileSync, statSync } from "node:fs";

/** The file descriptors of the process. All threads share them: connections, databases, outgoing calls. */
export interface Descriptors {
  /** The number from which no connection is accepted. The rest of the limit is for databases and outgoing calls. */
  readonly cap: number;
  /** The number of open descriptors. Takes a few microseconds. */
  open(): number;
}

/** The share of the limit that stays free, enough for a burst of connections between two checks. */
const FREE_SHARE = 1 / 4;
const MIN_FREE = 32;
const MAX_FREE = 1024;

const OPEN_DESCRIPTORS = "/proc/self/fd";

/** The descriptors of this process; undefined where the system has no limit or does not report it. */
export function processDescriptors(): Descriptors | undefined {
  const limit = openFilesLimit();
  if (limit === undefined) return undefined;
  const free = Math.min(Math.max(Math.floor(limit * FREE_SHARE), MIN_FREE), MAX_FREE);
  // From Linux 6.2 on the size of the directory is the number of its entries; before, it is 0.
  const open = () => statSync(OPEN_DESCRIPTORS).size || readdirSync(OPEN_DESCRIPTORS).length;
  return { cap: limit - free, open };
}

/** The soft limit. Bun raises it to the hard limit at startup. */
function openFilesLimit(): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
