import { dlopen, FFIType } from "bun:ffi";
import { closeSync, mkdirSync, openSync, readSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const BLOCK = 4096;
/** Peak memory of a node while it fills its index (docs/operate/capacity.md). */
export const FILLING_BYTES = 675_000_000;
/** Memory limit: what a node takes, plus a thirtieth of the index for the system's cache of its pages. */
export const NODE_BYTES = 400_000_000;
export const CACHE_SHARE = 30;
const CGROUP = "/sys/fs/cgroup/memory";
const [WILL_NEED, DONT_NEED] = [3, 4];

/** A file whose blocks `evict` removes from the system's cache. */
export class ColdFile implements Disposable {
  readonly #fd: number;
  readonly #blocks: number;
  readonly #advise: (at: number, bytes: number, advice: number) => number;

  constructor(path: string) {
    const { i32, i64 } = FFIType;
    const { symbols } = dlopen("libc.so.6", { posix_fadvise: { args: [i32, i64, i64, i32], returns: i32 } });
    this.#fd = openSync(path, "r");
    this.#blocks = Math.floor(statSync(path).size / BLOCK);
    this.#advise = (at, bytes, advice) => symbols.posix_fadvise(this.#fd, at, bytes, advice);
  }

  evict(): void {
    this.#advise(0, 0, DONT_NEED);
  }

  /** Reads random blocks for a second, each announced `inFlight` blocks ahead. Returns blocks per second. */
  bareRate(inFlight: number): number {
    this.evict();
    const block = Buffer.alloc(BLOCK);
    const asked: number[] = [];
    const ask = () => {
      const at = Math.floor(Math.random() * this.#blocks) * BLOCK;
      this.#advise(at, BLOCK, WILL_NEED);
      asked.push(at);
    };
    for (let n = 0; n < inFlight; n++) ask();
    let read = 0;
    const startedMs = performance.now();
    for (; performance.now() - startedMs < 1000; read++) {
      readSync(this.#fd, block, 0, BLOCK, asked.shift() ?? 0);
      ask();
    }
    return read / ((performance.now() - startedMs) / 1000);
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}

/** Creates a control group for this run, if the machine has cgroup v1 and permits it. */
export function limitedMemory(bytes: number): { command: string[]; bytes: number } & Disposable {
  const path = join(CGROUP, `svc-bench-${process.pid}`);
  try {
    mkdirSync(path);
    writeFileSync(join(path, "memory.limit_in_bytes"), String(Math.round(bytes)));
  } catch {
    return { command: [], bytes: 0, [Symbol.dispose]: () => undefined };
  }
  return {
    command: ["sh", "-c", `echo $$ > ${path}/cgroup.procs; exec "$@"`, "sh"],
    bytes,
    [Symbol.dispose]() {
      try {
        rmdirSync(path);
      } catch {
        // A process of the group is still ending.
      }
    },
  };
}
