import { indexPath, openIndexReader } from "../src/db/index/database.ts";
import { TRIE_HASH_BYTES, writeTrieHash } from "../src/protocol/message/message-hash.ts";
import { MESSAGE_KEY_BYTES } from "../src/trust/trie-key.ts";
import { verifyRoots } from "../src/upstream/verify/verify-roots.ts";
import type { Figure } from "./main.ts";
import { benchNetwork } from "./network.ts";
import { median } from "./start.ts";

const MESSAGES = Number(process.env.BENCH_MESSAGES ?? 200_000);
const RUNS = Number(process.env.BENCH_RUNS ?? 3);

/**
 * Measures the CPU time of `svc verify --roots` over an index: every key is computed from its row, and the roots from the
 * keys. The baseline hashes the same number of leaves, which no program can avoid.
 */
export async function benchRoots(): Promise<Figure[]> {
  const { dataDir } = benchNetwork(MESSAGES);
  using db = openIndexReader(indexPath(dataDir));
  const { signal } = new AbortController();
  let keys = 0;
  const times = { verify: [] as number[], leaves: [] as number[] };
  for (let run = 0; run < RUNS; run++) {
    const start = process.cpuUsage();
    const { shards } = await verifyRoots(db, signal);
    times.verify.push(cpuMicrosSince(start));
    keys = shards.reduce((sum, shard) => sum + shard.keys, 0);
    times.leaves.push(leafMicros(keys));
  }
  const of = "hashing a leaf";
  const leaf = median(times.leaves) / keys;
  const key = median(times.verify) / keys;
  return [
    { what: of, value: leaf, unit: "us" },
    {
      what: `a key of ${keys.toLocaleString("en-US")}, verified`,
      value: key,
      unit: "us",
      ratio: { of, value: key / leaf },
    },
    { what: "a million keys", value: key, unit: "s" },
  ];
}

function leafMicros(count: number): number {
  const leaf = new Uint8Array(2 * MESSAGE_KEY_BYTES);
  const out = new Uint8Array(TRIE_HASH_BYTES);
  const start = process.cpuUsage();
  for (let at = 0; at < count; at++) {
    leaf[at % leaf.length] = at & 15;
    writeTrieHash(leaf, leaf.length, out, 0);
  }
  return cpuMicrosSince(start);
}

function cpuMicrosSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return user + system;
}
