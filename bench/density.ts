import { join } from "node:path";
import { tempDir } from "../test/support/program.ts";
import type { Figure } from "./main.ts";
import type { WriterMode, WriterResult } from "./processes/density-writer.ts";
import { median } from "./start.ts";

const ROOT = join(import.meta.dir, "..");
const MESSAGES = Number(process.env.BENCH_MESSAGES ?? 200_000);
/** Live ingest slows down as the index grows, so it is compared at a separate size. */
const LIVE_MESSAGES = Math.min(MESSAGES, 120_000);
const IMPORTED_MESSAGES = Math.min(MESSAGES, 20_000);
const RUNS = Number(process.env.BENCH_RUNS ?? 3);

/**
 * Figures for messages stored in wire form, on the machine of bench/README.md: 200,000 messages, and 120,000 of them live.
 */
const WIRE_FORM = { bytes: 785, byFidMicros: 73.8, liveMicros: 51.3 };

/**
 * Compares the index with one that stored messages in wire form: size; CPU time of the writer in bulk, live and by import;
 * bytes written with little cache. Each is measured in a separate process.
 */
export async function benchDensity(): Promise<Figure[]> {
  using temp = tempDir();
  const dir = (name: string) => join(temp.path, name);
  const runs = { bulk: [] as number[], live: [] as number[] };
  let bulk: WriterResult | undefined;
  for (let run = 0; run < RUNS; run++) {
    bulk = await write(dir("bulk"), "bulk", MESSAGES);
    runs.bulk.push(bulk.micros);
    runs.live.push((await write(dir("live"), "live", LIVE_MESSAGES)).micros);
  }
  if (!bulk) throw new Error("BENCH_RUNS is 0");
  const smallCache = await write(dir("small-cache"), "small-cache", MESSAGES);
  const imported = await write(dir("imported"), "import", IMPORTED_MESSAGES);
  const cpu = "us of CPU per message";
  const base = "wire form as recorded";
  return [
    compared(
      "size, goal 400",
      bulk.bytes / bulk.live,
      "bytes per message",
      `${base}, goal 0.45`,
      WIRE_FORM.bytes,
    ),
    compared("filled in bulk by fid", median(runs.bulk), cpu, `${base}, goal 0.25`, WIRE_FORM.byFidMicros),
    { what: "split and packed by other threads", value: bulk.packMicros, unit: cpu },
    compared("live", median(runs.live), cpu, `${base}, goal 0.75`, WIRE_FORM.liveMicros),
    compared(
      "written in bulk, cache of 1/30",
      smallCache.written / smallCache.live,
      "bytes per message",
      "the index, goal at most 4",
      smallCache.bytes / smallCache.live,
    ),
    { what: "import, validated", value: 1e6 / imported.micros, unit: "messages/s of one core" },
  ];
}

function compared(what: string, value: number, unit: string, of: string, base: number): Figure {
  return { what, value, unit, ratio: { of, value: value / base } };
}

/** Writes messages in a separate process. */
export async function write(dataDir: string, mode: WriterMode, messages: number): Promise<WriterResult> {
  const script = join(import.meta.dir, "processes/density-writer.ts");
  const child = Bun.spawn([process.execPath, script, ROOT, dataDir, mode, String(messages)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`${mode} failed`);
  return JSON.parse(text);
}
