import { cpSync } from "node:fs";
import { join } from "node:path";
import { fromSources, startNode, tempDir } from "../test/support/program.ts";
import { drawFrom } from "./draw.ts";
import type { Figure } from "./main.ts";
import type { WriterMode, WriterResult } from "./processes/density-writer.ts";
import { distinctRequest, READS, timeOf } from "./reads.ts";
import { median } from "./start.ts";

const ROOT = join(import.meta.dir, "..");
/** A checkout of the last version with the former format. Without it, the figures recorded of it are the baseline. */
const FORMER = process.env.BENCH_FORMER;
const MESSAGES = Number(process.env.BENCH_MESSAGES ?? 200_000);
/** Live ingest slows down as the index grows, so it is compared at a size of its own. */
const LIVE_MESSAGES = Math.min(MESSAGES, 120_000);
const IMPORTED_MESSAGES = Math.min(MESSAGES, 20_000);
const RUNS = Number(process.env.BENCH_RUNS ?? 3);
const REQUESTS = 200;
const WARM_UP = 40;
const HEAVY_FID = 1;

/** The former format on the machine of bench/README.md: 200,000 messages, and 120,000 of them live. */
const RECORDED = { bytes: 785, byFidMicros: 73.8, liveMicros: 51.3 };

/**
 * Compares the index with its former format: size, CPU time of the writer in bulk and live, bytes written with little cache,
 * migration, and every read. The two are measured in turns, each in a process of its own.
 */
export async function benchDensity(): Promise<Figure[]> {
  using temp = tempDir();
  const dir = (name: string) => join(temp.path, name);
  const runs = {
    byFid: [] as number[],
    bulk: [] as number[],
    formerLive: [] as number[],
    live: [] as number[],
  };
  let former: WriterResult | undefined;
  let bulk: WriterResult | undefined;
  for (let run = 0; run < RUNS; run++) {
    if (FORMER) {
      former = await write(FORMER, dir("former"), "by-fid", MESSAGES);
      runs.byFid.push(former.micros);
      runs.formerLive.push((await write(FORMER, dir("former-live"), "live", LIVE_MESSAGES)).micros);
    }
    bulk = await write(ROOT, dir("bulk"), "bulk", MESSAGES);
    runs.bulk.push(bulk.micros);
    runs.live.push((await write(ROOT, dir("live"), "live", LIVE_MESSAGES)).micros);
  }
  if (!bulk) throw new Error("BENCH_RUNS is 0");
  const smallCache = await write(ROOT, dir("small-cache"), "small-cache", MESSAGES);
  const base = FORMER ? "former format" : "former format as recorded";
  const formerBytes = former ? former.bytes / former.live : RECORDED.bytes;
  const formerByFid = former ? median(runs.byFid) : RECORDED.byFidMicros;
  const formerLive = former ? median(runs.formerLive) : RECORDED.liveMicros;
  const bytes = bulk.bytes / bulk.live;
  const cpu = "us of CPU per message";
  const figures: Figure[] = [
    { what: "former format, size", value: formerBytes, unit: "bytes per message" },
    compared("size, goal 400", bytes, "bytes per message", `${base}, goal 0.45`, formerBytes),
    { what: "former format, filled by fid", value: formerByFid, unit: cpu },
    compared("filled in bulk by fid", median(runs.bulk), cpu, `${base}, goal 0.25`, formerByFid),
    { what: "split and packed by other threads", value: bulk.packMicros, unit: cpu },
    { what: "former format, live", value: formerLive, unit: cpu },
    compared("live", median(runs.live), cpu, `${base}, goal 0.75`, formerLive),
    compared(
      "written in bulk, cache of 1/30",
      smallCache.written / smallCache.live,
      "bytes per message",
      "the index, goal at most 4",
      smallCache.bytes / smallCache.live,
    ),
  ];
  if (!FORMER || !former) return figures;
  cpSync(dir("former"), dir("migrated"), { recursive: true });
  const migration = await write(ROOT, dir("migrated"), "migrate", MESSAGES);
  const imported = await write(ROOT, dir("imported"), "import", IMPORTED_MESSAGES);
  figures.push(
    { what: "import, validated", value: 1e6 / imported.micros, unit: "messages/s of one core" },
    compared(
      "migration",
      1e6 / migration.micros,
      "messages/s of one core",
      "import, goal 3",
      1e6 / imported.micros,
    ),
    ...(await readFigures(FORMER, dir("former"), dir("migrated"))),
  );
  return figures;
}

function compared(what: string, value: number, unit: string, of: string, base: number): Figure {
  return { what, value, unit, ratio: { of, value: value / base } };
}

async function write(
  checkout: string,
  dataDir: string,
  mode: WriterMode,
  messages: number,
): Promise<WriterResult> {
  const script = join(import.meta.dir, "processes/density-writer.ts");
  const child = Bun.spawn([process.execPath, script, checkout, dataDir, mode, String(messages)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`${mode} of ${checkout} failed`);
  return JSON.parse(text);
}

/** Median and p99 of each read on both formats, request by request in turns. */
async function readFigures(former: string, formerDir: string, dataDir: string): Promise<Figure[]> {
  const before = await startNode({
    command: [process.execPath, join(former, "src/main.ts")],
    dataDir: formerDir,
  });
  const after = await startNode({ command: fromSources, dataDir });
  const fids = Math.max(200, Math.round(MESSAGES / 50));
  const draw = drawFrom({ dataDir, messages: MESSAGES, fids, heavyFid: HEAVY_FID, buildSecs: 0 });
  const figures: Figure[] = [];
  for (const [name, path] of READS) {
    const times = { before: [] as number[], after: [] as number[] };
    for (let n = 0; n < WARM_UP + REQUESTS; n++) {
      const request = path(draw);
      const beforeMs = await timeOf(before.url, distinctRequest(request));
      const afterMs = await timeOf(after.url, distinctRequest(request));
      if (n < WARM_UP) continue;
      times.before.push(beforeMs);
      times.after.push(afterMs);
    }
    for (const list of Object.values(times)) list.sort((a, b) => a - b);
    const at = (share: number) => Math.floor(REQUESTS * share);
    for (const [label, share] of [
      ["p50", 0.5],
      ["p99", 0.99],
    ] as const) {
      const [old = 0, now = 0] = [times.before[at(share)], times.after[at(share)]];
      figures.push(compared(`${name}, ${label}`, now, "ms", "former format", old));
    }
  }
  await before.stop();
  await after.stop();
  return figures;
}
