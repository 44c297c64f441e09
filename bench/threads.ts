import { readdirSync, readFileSync } from "node:fs";

/** CPU time that a thread has used, and how often it has waited, at one moment. */
export interface ThreadUse {
  readonly name: string;
  readonly cpuMs: number;
  /** Time in which it could have run while others had the cores. */
  readonly queuedMs: number;
  readonly waits: number;
}

/** Returns the threads of a process by their ids, from Linux's /proc. */
export function threadsOf(pid: number): Map<string, ThreadUse> {
  const threads = new Map<string, ThreadUse>();
  for (const tid of readdirSync(`/proc/${pid}/task`)) {
    try {
      const status = readFileSync(`/proc/${pid}/task/${tid}/status`, "utf8");
      const [cpuNs = 0, queuedNs = 0] = readFileSync(`/proc/${pid}/task/${tid}/schedstat`, "utf8")
        .split(" ")
        .map(Number);
      threads.set(tid, {
        name: /^Name:\s+(.*)$/m.exec(status)?.[1] ?? "",
        cpuMs: cpuNs / 1e6,
        queuedMs: queuedNs / 1e6,
        waits: numberIn(status, "voluntary_ctxt_switches"),
      });
    } catch {
      // It has ended.
    }
  }
  return threads;
}

/** Returns the number after a name in a file of /proc. */
export function numberIn(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0);
}
