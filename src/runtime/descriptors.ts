import { readdirSync, readFileSync, statSync } from "node:fs";

/** File descriptors of the process, which all of its threads share: connections, databases, outgoing calls. */
export interface Descriptors {
  /** From here on no connection is accepted; the rest of the limit is for the databases and outgoing calls. */
  readonly cap: number;
  /** How many are open now. Cheap: some microseconds. */
  open(): number;
}

/** Of the limit, so much stays free: enough for a burst of connections between two looks at the number. */
const FREE_SHARE = 1 / 4;
const MIN_FREE = 32;
const MAX_FREE = 1024;

const OPEN_DESCRIPTORS = "/proc/self/fd";

/** The descriptors by the limit of this process; undefined where the system does not tell, or has none. */
export function processDescriptors(): Descriptors | undefined {
  const limit = openFilesLimit();
  if (limit === undefined) return undefined;
  const free = Math.min(Math.max(Math.floor(limit * FREE_SHARE), MIN_FREE), MAX_FREE);
  // Since Linux 6.2 the size of the directory is the number of its entries; before, it is 0.
  const open = () => statSync(OPEN_DESCRIPTORS).size || readdirSync(OPEN_DESCRIPTORS).length;
  return { cap: limit - free, open };
}

/** The soft limit. Bun raises it to the hard limit when it starts. */
function openFilesLimit(): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
