import { readFileSync } from "node:fs";

/** What a stage of a process took. */
export interface StageCosts {
  readonly cpuUs: number;
  /** Bytes read from the disk, not from the system's cache. */
  readonly readBytes: number;
  readonly writtenBytes: number;
}

/** Returns what this process has taken. */
export function costs(): StageCosts {
  const io = readFileSync("/proc/self/io", "utf8");
  const bytes = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, "m").exec(io)?.[1]);
  const { user, system } = process.cpuUsage();
  return { cpuUs: user + system, readBytes: bytes("read_bytes"), writtenBytes: bytes("write_bytes") };
}

export function costsSince(before: StageCosts): StageCosts {
  const now = costs();
  return {
    cpuUs: now.cpuUs - before.cpuUs,
    readBytes: now.readBytes - before.readBytes,
    writtenBytes: now.writtenBytes - before.writtenBytes,
  };
}
