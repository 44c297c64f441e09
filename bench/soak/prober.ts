/**
 * Calls the node and a bare server alternately, one request at a time at a fixed rate, in a separate process, so that the
 * work of the load does not count as latency. `bun bench/soak/prober.ts <JSON of ProbeOptions>` prints, for each line of its
 * input, the JSON of `Probes` since the previous line.
 */
import { fdatasyncSync, openSync, writeSync } from "node:fs";
import { Connection } from "../open-loop.ts";
import { UNUSED } from "../wrk.ts";
import { BARE_SYNC } from "./synced-page.ts";

export interface ProbeOptions {
  readonly node: string;
  readonly bare: string;
  readonly requestsPerSec: number;
  /** The paths of each kind of read. */
  readonly paths: Readonly<Record<string, readonly string[]>>;
  /** A file next to the node's databases, to which a page is written and synced every second. */
  readonly syncedFile: string;
}

/** Microseconds of each request, by kind, and the number of the node's requests that failed. */
export interface Probes {
  readonly node: Record<string, number[]>;
  readonly bare: Record<string, number[]>;
  readonly failed: Record<string, number>;
}

const TIMEOUT_MS = 20_000;

/** Returns a client with one connection, which is reopened after it was closed. */
function client(origin: string): (path: string) => Promise<{ us: number; ok: boolean }> {
  const { hostname, port } = new URL(origin);
  let connection: Connection | undefined;
  let answered = (_ok: boolean) => {};
  return async (path) => {
    const end = Promise.withResolvers<boolean>();
    answered = end.resolve;
    const deadline = setTimeout(() => end.resolve(false), TIMEOUT_MS);
    try {
      connection ??= await Connection.open({ hostname, port: Number(port) }, (_, ok) => answered(ok));
      const startedMs = performance.now();
      connection.get(path, startedMs);
      const ok = await end.promise;
      const us = Math.round((performance.now() - startedMs) * 1000);
      if (!ok) {
        connection.close();
        connection = undefined;
      }
      return { us, ok };
    } catch {
      connection = undefined;
      return { us: 0, ok: false };
    } finally {
      clearTimeout(deadline);
    }
  };
}

const none = (): Probes => ({ node: {}, bare: {}, failed: {} });

function note(took: Record<string, number[]>, kind: string, us: number): void {
  const all = took[kind];
  if (all) all.push(us);
  else took[kind] = [us];
}

async function probe(options: ProbeOptions): Promise<void> {
  const ask = { node: client(options.node), bare: client(options.bare) };
  const kinds = Object.entries(options.paths);
  let probes = none();
  const answerLines = async () => {
    for await (const _ of console) {
      process.stdout.write(`${JSON.stringify(probes)}\n`);
      probes = none();
    }
    process.exit(0);
  };
  void answerLines();
  const file = openSync(options.syncedFile, "w");
  const page = Buffer.alloc(4096, 1);
  const periodMs = 2000 / options.requestsPerSec;
  let dueMs = performance.now();
  for (let nth = 0; ; nth += 1) {
    const [kind = "", paths = []] = kinds[nth % kinds.length] ?? [];
    const path = `${paths[Math.floor(nth / kinds.length) % paths.length]}${UNUSED}${nth}`;
    const order = nth % 2 === 0 ? (["node", "bare"] as const) : (["bare", "node"] as const);
    for (const who of order) {
      const { us, ok } = await ask[who](path);
      if (ok) note(probes[who], kind, us);
      else probes.failed[`${who} ${kind}`] = (probes.failed[`${who} ${kind}`] ?? 0) + 1;
    }
    if (nth % Math.round(options.requestsPerSec / 2) === 0) {
      const startedMs = performance.now();
      writeSync(file, page, 0, page.length, 0);
      fdatasyncSync(file);
      note(probes.bare, BARE_SYNC, Math.round((performance.now() - startedMs) * 1000));
    }
    dueMs = Math.max(dueMs + periodMs, performance.now() - periodMs);
    await Bun.sleep(Math.max(0, dueMs - performance.now()));
  }
}

if (import.meta.main) await probe(JSON.parse(process.argv[2] ?? "{}"));
