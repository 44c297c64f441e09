import { dlopen, FFIType, ptr } from "bun:ffi";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { totalmem } from "node:os";
import { isLoopbackHost } from "../../config/formats.ts";
import { httpWorkersOf } from "../../config/http-workers.ts";
import { readPostgresUrl } from "../../config/postgres-url.ts";
import type { Config } from "../../config/schema.ts";
import { upstreamUrls } from "../../config/upstream-urls.ts";
import { reasonOf } from "../../lib/failure.ts";
import { type ListenAddress, listenersOf, listenFaultAt } from "../../net/listen-address.ts";
import type { Resolve } from "../../net/resolve.ts";
import type { CheckName } from "../../node/watch/checks.ts";
import { grouped } from "../../runtime/progress-line.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";

/** With fewer, the threads and their databases would start without room for clients. */
const FEWEST_FILES = 256;
/** The unit has 65536. Each client connection takes one; a quarter of the limit is reserved for databases and calls. */
const FEW_FILES = 4096;
/** What a node takes while it reads and merges (bench/README.md, Memory). */
const LEAST_MEMORY_BYTES = 400_000_000;
/** Filling an index took up to 673 MB (bench/README.md). */
const LITTLE_MEMORY_BYTES = 1_000_000_000;
const WORKER_BYTES = 50_000_000;

/**
 * Checks how many files the node may open.
 *
 * @param nodeLimits the file with the limits of the running node; undefined if none runs, or it cannot be read.
 */
export const filesCheck = (nodeLimits: string | undefined): Check => ({
  name: "open files",
  run: async () => {
    const ofNode = nodeLimits === undefined ? undefined : filesLimit(nodeLimits);
    if (ofNode !== undefined) return [assessFiles("the running node", ofNode)];
    const own = filesLimit("/proc/self/limits");
    return own === undefined ? [] : [assessFiles("a process started here", own)];
  },
});

function assessFiles(who: string, limit: number): Finding {
  const check = "open files";
  const text = `${who} may open ${grouped(limit)} files`;
  const advice =
    "Raise it: LimitNOFILE=65536 in the unit, `ulimit -n 65536` in a shell, or --ulimit of the container";
  if (limit < FEWEST_FILES) return fail(check, text, advice);
  const isLow = limit < FEW_FILES;
  return isLow
    ? warn(check, `${text}: connections are refused at three quarters of it`, advice)
    : ok(check, text);
}

/** Returns the hard limit, to which the program raises its soft limit at startup; undefined if it cannot be read. */
function filesLimit(limitsFile: string): number | undefined {
  try {
    const [, hard] = /^Max open files\s+\S+\s+(\d+|unlimited)/m.exec(readFileSync(limitsFile, "utf8")) ?? [];
    return hard === undefined ? undefined : hard === "unlimited" ? Number.POSITIVE_INFINITY : Number(hard);
  } catch {
    return undefined;
  }
}

/** Checks how much memory the machine or the container has. */
export const memoryCheck = (http: Config["http"]): Check => ({
  name: "memory",
  run: async () => [assessMemory(memoryBytes(), httpWorkersOf(http))],
});

function assessMemory(bytes: number, workers: number): Finding {
  const check = "memory";
  const further = (workers - 1) * WORKER_BYTES;
  const text = `${grouped(bytes / 1e6)} MB available`;
  const need = `for ${workers} HTTP ${workers === 1 ? "worker" : "workers"}`;
  const advice = "Give the machine or container 1 GB or more";
  if (bytes < LEAST_MEMORY_BYTES + further) return fail(check, `${text}; too little ${need}`, advice);
  if (bytes < LITTLE_MEMORY_BYTES + further)
    return warn(check, `${text}; may be too little ${need} while the index is filled`, advice);
  return ok(check, `${text}; enough ${need}`);
}

/** Returns the memory of the machine, or the limit of its control group, in bytes. */
function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

const NOT_SET_UP: CheckName = "not_set_up";

/** Checks whether the ports are free for a node that does not run yet. */
export const portsCheck = (config: Pick<Config, "http" | "hub">): Check => ({
  name: "ports",
  run: async () =>
    listenersOf(config)
      .filter(({ port }) => port > 0)
      .map(freePort),
});

function freePort(address: ListenAddress): Finding {
  const { host, port, setting } = address;
  const fault = listenFaultAt(address);
  return fault
    ? fail("ports", fault.message, `Stop what uses it, or set ${setting}`)
    : ok("ports", `${port} (${setting}) is free on ${host}`);
}

/** Checks whether the node that uses the data directory is ready. */
export const readyCheck = (askReady: () => Promise<string>): Check => ({
  name: "running node",
  run: async () => {
    try {
      await askReady();
      return [ok("running node", "uses the data directory and is ready")];
    } catch (cause) {
      const reason = `uses the data directory; ${reasonOf(cause)}`;
      // It runs with its package's settings; those that are checked here may be newer.
      if (reason.includes(NOT_SET_UP))
        return [warn("running node", reason, "Restart it after svc init: it then runs with these settings")];
      const advice =
        "See its /status and its log. A node that fills its index is ready afterwards; one at index.max_bytes needs a higher bound or a smaller index (svc index compact)";
      return [fail("running node", reason, advice)];
    }
  },
});

/** Checks whether a time daemon keeps this machine's clock correct. */
export const timeSourceCheck = (kernelClock: () => Synchronised): Check => ({
  name: "time source",
  run: async () => {
    switch (kernelClock()) {
      case "yes":
        return [ok("time source", "the kernel reports a synchronized clock")];
      case "no":
        return [
          warn(
            "time source",
            "the kernel reports that nothing synchronizes the clock",
            "Start systemd-timesyncd or chrony, on the machine itself if this is a container",
          ),
        ];
      case "unknown":
        return [
          warn(
            "time source",
            "this system does not report whether the clock is synchronized",
            "Check that a time daemon runs; `clock` compares with the followed node",
          ),
        ];
    }
  },
});

/** Whether the kernel considers the machine's clock synchronized, according to the reports of a time daemon. */
export type Synchronised = "yes" | "no" | "unknown";

const LIBRARIES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];
/** `struct timex` has 208 bytes on 64-bit Linux; its first field, 0, requests no change. */
const TIMEX_BYTES = 256;
const STATUS_OFFSET = 40;
const STA_UNSYNC = 0x40;

/**
 * Calls adjtimex(2), which needs neither systemd nor a program nor privileges. Containers share the clock of their machine and its
 * status.
 */
export function kernelClock(): Synchronised {
  if (process.platform !== "linux") return "unknown";
  for (const library of LIBRARIES) {
    try {
      const { symbols, close } = dlopen(library, { adjtimex: { args: [FFIType.ptr], returns: FFIType.i32 } });
      const timex = new Uint8Array(TIMEX_BYTES);
      const state = symbols.adjtimex(ptr(timex));
      close();
      if (state < 0) return "unknown";
      const status = new DataView(timex.buffer).getInt32(STATUS_OFFSET, true);
      return (status & STA_UNSYNC) === 0 ? "yes" : "no";
    } catch {
      // Another C library has no such function.
    }
  }
  return "unknown";
}

const SLOW_MS = 1000;
const ADVICE =
  "See /etc/resolv.conf and the spelling of the setting; webhooks and notifications need DNS, too";

/** Checks whether the host names in the settings resolve. */
export const namesCheck = (config: Config, resolve: Resolve): Check => ({
  name: "DNS",
  run: async (signal) => {
    const names = namesOf(config);
    if (names.length === 0) return [ok("DNS", "no setting names a host")];
    return await Promise.all(names.map(([setting, name]) => lookUp(resolve, setting, name, signal)));
  },
});

async function lookUp(
  resolve: Resolve,
  setting: string,
  name: string,
  signal: AbortSignal,
): Promise<Finding> {
  const started = performance.now();
  try {
    const addresses = await resolve(name, { signal });
    const ms = Math.round(performance.now() - started);
    const text = `${name} (${setting}) resolves to ${addresses.slice(0, 3).join(", ")} (${ms} ms)`;
    return ms > SLOW_MS
      ? warn("DNS", text, "Use a name server that responds faster, preferably one nearby")
      : ok("DNS", text);
  } catch (cause) {
    return fail("DNS", `${name} (${setting}) does not resolve: ${reasonOf(cause)}`, ADVICE);
  }
}

function namesOf({ upstream, state, chain }: Config): (readonly [setting: string, name: string])[] {
  const postgres = state.url === "" ? undefined : readPostgresUrl(state.url);
  const hosts: (readonly [string, string | undefined])[] = [
    ...upstreamUrls({ upstream }).map(
      (url) => [upstream.url === "" ? "upstream.urls" : "upstream.url", hostOf(url)] as const,
    ),
    ["chain.l1_rpc_url", hostOf(chain.l1_rpc_url)],
    ["state.url", postgres?.ok && postgres.value.socketPath === undefined ? postgres.value.host : undefined],
  ];
  return hosts.flatMap(([setting, name]) =>
    name === undefined || isIP(name) !== 0 || isLoopbackHost(name) ? [] : [[setting, name] as const],
  );
}

function hostOf(url: string): string | undefined {
  return url === "" ? undefined : URL.parse(url)?.hostname.replace(/^\[(.*)\]$/, "$1");
}
