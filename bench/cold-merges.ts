import { copyFileSync, readFileSync } from "node:fs";
import { indexPath, openIndexWriter } from "../src/db/index/database.ts";
import { ReadAhead } from "../src/db/sqlite/read-ahead.ts";
import { seededRandom } from "../src/demo/random.ts";
import { createIngestEngine } from "../src/ingest/engine.ts";
import type { IngestRecord } from "../src/ingest/record.ts";
import { FarcasterNetwork } from "../src/protocol/wire/generated/message.ts";
import { tempDir } from "../test/support/program.ts";
import { castsOf } from "./away-blocks.ts";
import { BLOCK, ColdFile } from "./cold-file.ts";
import type { Figure } from "./main.ts";
import { MAINNET_MIX, newRecord } from "./network.ts";
import { median } from "./start.ts";

const MESSAGES = 200 * Number(process.env.BENCH_RUNS ?? 30);
/** Messages per commit: a busy second, and what a node that is catching up merges together. */
const GROUPS = [200, 2_000];

/**
 * Merges into an index without any pages in the system's cache: groups of new messages that name casts of any age and any
 * user, alternately with and without reading ahead. Right after a compaction each message costs about twice as much, because
 * the full pages split.
 */
export function benchColdMerges(dataDir: string, fids: number): Figure[] {
  using dir = tempDir();
  const path = indexPath(dir.path);
  copyFileSync(indexPath(dataDir), path);
  const file = new ColdFile(path);
  using db = openIndexWriter(path);
  const engine = createIngestEngine({
    db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    clock: { nowMs: () => Date.now() },
    onFault(cause) {
      throw cause;
    },
  });
  const casts = castsOf(dir.path);
  const random = seededRandom("cold merges");
  const aheadOf = { off: undefined, on: new ReadAhead(db.sqlite, { memoryBytes: () => 0 }) };
  return GROUPS.flatMap((perGroup) => {
    const rates = { off: [] as number[], on: [] as number[] };
    const blocks = { off: [] as number[], on: [] as number[] };
    const cpuUs = { off: [] as number[], on: [] as number[] };
    const systemUs: number[] = [];
    let [written, total] = [0, 0];
    for (let group = 0; group < Math.max(2, MESSAGES / perGroup); group++)
      // The order alternates, so that a checkpoint after every few groups falls on both ways.
      for (const way of group % 2 === 0 ? (["off", "on"] as const) : (["on", "off"] as const)) {
        db.readAhead = aheadOf[way];
        const batch: IngestRecord[] = Array.from({ length: perGroup }, () =>
          newRecord(random, { mix: MAINNET_MIX, fids, casts }),
        );
        file.evict();
        const before = ioOf();
        const cpuBefore = process.threadCpuUsage();
        const startedMs = performance.now();
        const merged = engine.apply(batch).filter((outcome) => outcome === undefined).length;
        rates[way].push((merged / (performance.now() - startedMs)) * 1000);
        const cpu = process.threadCpuUsage(cpuBefore);
        const after = ioOf();
        cpuUs[way].push((cpu.user + cpu.system) / merged);
        if (way === "on") systemUs.push(cpu.system / merged);
        blocks[way].push((after.read - before.read) / BLOCK / merged);
        written += after.written - before.written;
        total += merged;
      }
    const off = median(rates.off);
    return [
      { what: `merges of ${perGroup} together, nothing cached`, value: off, unit: "messages/s" },
      {
        what: "the same, read ahead",
        value: median(rates.on),
        unit: "messages/s",
        ratio: { of: "without reading ahead", value: median(rates.on) / off },
      },
      {
        what: "CPU, read ahead",
        value: median(cpuUs.on),
        unit: "us a merged message",
        ratio: { of: "without reading ahead", value: median(cpuUs.on) / median(cpuUs.off) },
      },
      { what: "CPU of the system", value: median(systemUs), unit: "us a merged message" },
      { what: "blocks read", value: median(blocks.off), unit: "a merged message" },
      { what: "the same, read ahead", value: median(blocks.on), unit: "a merged message" },
      { what: "written, with checkpoints", value: written / total, unit: "bytes a merged message" },
    ];
  });
}

function ioOf(): { readonly read: number; readonly written: number } {
  const text = readFileSync("/proc/self/io", "utf8");
  const of = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, "m").exec(text)?.[1] ?? 0);
  return { read: of("read_bytes"), written: of("write_bytes") };
}
