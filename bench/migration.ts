import { copyFileSync, linkSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { indexPath, openIndexInMemory } from "../src/db/index/database.ts";
import { claimNetwork } from "../src/db/index/identity.ts";
import { newFileOf } from "../src/db/index/upgrade/replace-file.ts";
import { slotOf } from "../src/protocol/message/merge-rules.ts";
import { decodeMessage } from "../src/protocol/message/signed-message.ts";
import { writeOlderIndex } from "../test/support/older-index.ts";
import { tempDir } from "../test/support/program.ts";
import { MadeNetwork, VIRTUAL_SHARDS } from "./backfill-set.ts";
import { BLOCK, CACHE_SHARE, ColdFile, limitedMemory } from "./cold-file.ts";
import type { Figure } from "./main.ts";
import { unsigned } from "./network.ts";
import type { MigrationResult } from "./processes/migration-stages.ts";
import type { StageCosts } from "./processes/stage-costs.ts";

const SIZES = (process.env.BENCH_SIZES ?? "400000,1600000").split(",").map(Number);
/** A checkout, with its packages, whose comparison is measured together with that of this one. */
const BEFORE = process.env.BENCH_BEFORE;
/** Memory that a migration takes itself: while it builds the new file, and while it compares. */
const BUILD_BYTES = 450_000_000;
const COMPARE_BYTES = Number(process.env.BENCH_OWN_BYTES ?? 330_000_000);
/** Bytes per message in the new file, to limit the memory before it exists. */
const EXPECTED_BYTES = 290;
const ROOT = join(import.meta.dir, "..");

/**
 * Measures a migration of the format with little memory beside what it takes itself: a thirtieth of the index. The messages
 * are those of a part of the network, unsigned, in random order. The last stage, which compares both files, is measured by
 * itself, with both files evicted from the system's cache, and so is the verification of the new file. A ratio to the smallest size above 1 is what grows faster than
 * the messages. Requires Linux, and cgroup v1 as root for the limit.
 */
export async function benchMigration(): Promise<Figure[]> {
  const figures: Figure[] = [];
  const smallest = new Map<string, number>();
  const add = (what: string, value: number, unit: string) => {
    const first = smallest.get(what) ?? value;
    smallest.set(what, first);
    const ratio = first > 0 ? { of: "the smallest", value: value / first } : undefined;
    console.error(`${what}: ${value.toPrecision(4)} ${unit}`);
    figures.push({ what, value, unit, ratio });
  };
  for (const size of SIZES) {
    using dir = tempDir();
    const share = (size * EXPECTED_BYTES) / CACHE_SHARE;
    const [built, compared] = [join(dir.path, "built"), join(dir.path, "compared")];
    mkdirSync(built);
    const messages = writeMessages(indexPath(built), size);
    const addCosts = (what: string, { cpuUs, readBytes, writtenBytes }: StageCosts) => {
      add(`${what}: CPU`, cpuUs / messages, "us a message");
      add(`${what}: read`, readBytes / BLOCK / messages, "blocks a message");
      add(`${what}: written`, writtenBytes / BLOCK / messages, "blocks a message");
    };
    const { stages } = await migrated(ROOT, built, BUILD_BYTES + share, "verify");
    for (const checkout of [ROOT, ...(BEFORE === undefined ? [] : [resolve(BEFORE)])]) {
      copyBuilt(built, compared);
      const { verify, bytes } = await compareIn(checkout, compared, COMPARE_BYTES + share);
      const full = await verified(checkout, compared, BUILD_BYTES + share);
      if (checkout !== ROOT) {
        addCosts("comparison, before", verify);
        addCosts("svc migrate --verify, before", full);
        continue;
      }
      addCosts("svc migrate --verify", full);
      add("messages", messages, `of a mix of ${size}`);
      add("new file", bytes / messages, "bytes a message");
      addCosts("comparison", verify);
      addCosts("the whole", [...Object.values(stages), verify].reduce(sum));
    }
  }
  return figures;
}

function sum(a: StageCosts, b: StageCosts): StageCosts {
  return {
    cpuUs: a.cpuUs + b.cpuUs,
    readBytes: a.readBytes + b.readBytes,
    writtenBytes: a.writtenBytes + b.writtenBytes,
  };
}

/** Writes an index in the older format. Returns the number of its messages. */
function writeMessages(path: string, size: number): number {
  using empty = openIndexInMemory();
  claimNetwork(empty, "mainnet");
  let count = 0;
  writeOlderIndex(
    path,
    empty,
    madeMessages(size).map((message) => {
      count++;
      return message;
    }),
  );
  return count;
}

function* madeMessages(size: number) {
  const network = new MadeNetwork(size, { endSecs: Math.floor(Date.now() / 1000), seal: unsigned });
  for (let shard = 0; shard < VIRTUAL_SHARDS; shard++)
    for (const { request, frames } of network.part(shard)) {
      if (!request.startsWith("GetAll")) continue;
      for (const frame of frames) {
        const reader = new BinaryReader(frame);
        reader.tag();
        const bytes = reader.bytes();
        const message = decodeMessage(bytes);
        if (!message.ok) throw new Error(message.error.reason);
        const { store } = slotOf(message.value);
        yield { hash: message.value.hash, store, encode: () => bytes };
      }
    }
}

/** Copies a migration that was stopped before the comparison. The older file is linked, because it must be the same one. */
function copyBuilt(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to);
  linkSync(indexPath(from), indexPath(to));
  copyFileSync(newFileOf(indexPath(from)), newFileOf(indexPath(to)));
}

async function compareIn(checkout: string, dir: string, limitBytes: number) {
  const { stages, bytes } = await migrated(checkout, dir, limitBytes);
  const { verify, ...others } = stages;
  if (!verify || Object.keys(others).length > 0) throw new Error("the migration did not continue");
  return { verify, bytes };
}

function migrated(
  checkout: string,
  dir: string,
  limitBytes: number,
  before: string = "",
): Promise<MigrationResult> {
  return measured("migration-stages", checkout, dir, limitBytes, before);
}

/** Verifies a migrated index as `svc migrate --verify` does. Its messages are unsigned, so each is a finding. */
function verified(checkout: string, dir: string, limitBytes: number): Promise<StageCosts> {
  return measured("verify-index", checkout, dir, limitBytes);
}

async function measured<Result>(
  name: string,
  checkout: string,
  dir: string,
  limitBytes: number,
  ...args: readonly string[]
): Promise<Result> {
  const path = indexPath(dir);
  for (const name of readdirSync(dir)) {
    using file = new ColdFile(join(dir, name));
    file.evict();
  }
  using group = limitedMemory(limitBytes);
  const script = join(import.meta.dir, `processes/${name}.ts`);
  const child = Bun.spawn([...group.command, process.execPath, script, checkout, path, ...args], {
    env: {},
    stdout: "pipe",
    stderr: "inherit",
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`${checkout}: ${name} failed`);
  return JSON.parse(text);
}
