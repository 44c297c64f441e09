import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { compileInto, DIST, type RunningNode, startNode, tempDir } from "../test/support/program.ts";
import { serveRecording } from "../test/support/upstream/recorded.ts";
import { chainValidators, signedChain } from "../test/support/upstream/signed-chain.ts";
import type { Figure } from "./main.ts";
import { cpuMicrosOf } from "./start.ts";

const SHARDS = [0, 1, 2];
/** Of the accounts that are active, as many casts as mainnet's have messages. */
const CASTS_PER_ACCOUNT = 900;
const ACCOUNTS = 10;
const HISTORY_BLOCKS = 40;
/** Mainnet had some 25 messages and 3 blocks a second in November 2026. */
const CASTS_PER_BLOCK = 12;
const SETTLE_SECS = Number(process.env.BENCH_SETTLE_SECS ?? 30);
const FOLLOW_SECS = Number(process.env.BENCH_FOLLOW_SECS ?? 60);
const TICKS_PER_SEC = 100;

const LEVELS = [
  { what: "trust.level = node", settings: ["trust.level=node"] },
  { what: "blocks", settings: ["trust.level=blocks"] },
  { what: "roots, sample", settings: ["trust.roots=sample"] },
  { what: "roots, full", settings: ["trust.roots=full"] },
];

/**
 * Measures the CPU time of whole nodes that follow a network at mainnet's pace, all at once and with the same blocks, at each level of
 * trust. The network is another process's.
 */
export async function benchFollowing(): Promise<Figure[]> {
  using dir = tempDir();
  await using stack = new AsyncDisposableStack();
  const program = await compileInto(DIST);
  const sets = join(dir.path, "validators.json");
  writeFileSync(sets, JSON.stringify({ sets: [chainValidators] }));
  const followed = SETTLE_SECS + FOLLOW_SECS + 5;
  const chain = signedChain({
    fids: Array.from({ length: ACCOUNTS }, (_, at) => 5001 + at),
    blocks: HISTORY_BLOCKS + followed,
    castsOf: (height) =>
      height <= HISTORY_BLOCKS ? (ACCOUNTS * CASTS_PER_ACCOUNT) / 2 / HISTORY_BLOCKS : CASTS_PER_BLOCK,
    startsAt: Math.floor(Date.now() / 1000) - HISTORY_BLOCKS,
  });
  const heads = new Map(SHARDS.map((shard) => [shard, HISTORY_BLOCKS]));
  const nodes = await Promise.all(
    LEVELS.map(async ({ settings }, at) => {
      const upstream = stack.use(await serveRecording(() => chain, heads));
      const given = [
        "protocol.network=devnet",
        `upstream.url=${upstream.url}`,
        `trust.validators_file=${sets}`,
        ...settings,
      ];
      return stack.use(
        await startNode({
          command: [program],
          dataDir: join(dir.path, `${at}`),
          args: given.flatMap((one) => ["--set", one]),
        }),
      );
    }),
  );
  for (const node of nodes)
    while (!(await isAt(node, { from: HISTORY_BLOCKS, isProven: false }))) await Bun.sleep(500);
  const startedAt = performance.now();
  const follow = async (until: number) => {
    for (let second = 0; second <= until; second = (performance.now() - startedAt) / 1000) {
      for (const shard of SHARDS) heads.set(shard, HISTORY_BLOCKS + Math.floor(second));
      await Bun.sleep(1000 / TICKS_PER_SEC);
    }
  };
  await follow(SETTLE_SECS);
  const before = nodes.map(({ pid }) => cpuMicrosOf(pid));
  await follow(SETTLE_SECS + FOLLOW_SECS);
  const spent = nodes.map(({ pid }, at) => (cpuMicrosOf(pid) - (before[at] as number)) / FOLLOW_SECS);
  for (const [at, { url }] of nodes.entries()) {
    const r = await fetch(`${url}/status`);
    const t = await r.text();
    if (process.env.BENCH_SHOW) console.error(at, r.status, t.slice(0, 1500));
  }
  const of = `a second of a node, ${LEVELS[0]?.what}`;
  return LEVELS.map(({ what }, at) => ({
    what: `a second of a node, ${what}`,
    value: spent[at] as number,
    unit: "us" as const,
    ...(at > 0 && { ratio: { of, value: (spent[at] as number) / (spent[0] as number) } }),
  }));
}

interface Status {
  readonly upstream: { readonly shards: readonly { readonly applied_block: number }[] };
  readonly trust: { readonly shards: readonly { readonly proven_height: number | null }[] };
}

/** Whether a node has applied a block of each shard, and its state is proven at a block since then. */
async function isAt(
  { url }: RunningNode,
  { from, isProven }: { readonly from: number; readonly isProven: boolean },
): Promise<boolean> {
  const response = await fetch(`${url}/status`);
  if (!response.ok) return false;
  const { upstream, trust } = (await response.json()) as Status;
  if (!upstream.shards.every(({ applied_block: block }) => block >= from)) return false;
  return !isProven || trust.shards.slice(1).every(({ proven_height: height }) => (height ?? 0) >= from);
}
