import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { compileInto, DIST, type RunningNode, startNode, tempDir } from "../test/support/program.ts";
import { serveRecording } from "../test/support/upstream/recorded.ts";
import { chainValidators, signedChain } from "../test/support/upstream/signed-chain.ts";
import type { Figure } from "./main.ts";
import { cpuMicrosOf } from "./start.ts";

const SHARDS = [0, 1, 2];
/** Casts per active account: as many as accounts on mainnet have messages. */
const CASTS_PER_ACCOUNT = 900;
const ACCOUNTS = 10;
const HISTORY_BLOCKS = 40;
/** Mainnet had about 25 messages and 3 blocks per second in November 2026. */
const CASTS_PER_BLOCK = 12;
/** How much faster blocks are produced until code that runs once a second is hot. */
const SETTLE_SPEED = 3;
const SETTLE_SECS = Number(process.env.BENCH_SETTLE_SECS ?? 30);
const FOLLOW_SECS = Number(process.env.BENCH_FOLLOW_SECS ?? 60);
/** Pause between the fast blocks and the measurement. */
const QUIET_SECS = 8;
const TICKS_PER_SEC = 100;

/** A checkout of an earlier commit, whose node follows alongside the others as the baseline. */
const BEFORE = process.env.BENCH_BEFORE;

interface Level {
  readonly what: string;
  /** Settings that the program of `BENCH_BEFORE` may not know. */
  readonly settings: readonly string[];
  readonly isBefore?: boolean;
}

const LEVELS: readonly Level[] = [
  ...(BEFORE === undefined ? [] : [{ what: "BENCH_BEFORE", settings: [], isBefore: true }]),
  { what: "trust.level = node", settings: ["trust.level=node"] },
  { what: "blocks", settings: ["trust.level=blocks"] },
  { what: "roots, sample", settings: ["trust.roots=sample"] },
  { what: "roots, full", settings: ["trust.roots=full"] },
];

/**
 * Measures the CPU time of whole nodes that follow a network at mainnet's pace, all at once and with the same blocks, at
 * each trust level. The network is a separate process.
 */
export async function benchFollowing(): Promise<Figure[]> {
  using dir = tempDir();
  await using stack = new AsyncDisposableStack();
  const program = await compileInto(DIST);
  const before = BEFORE === undefined ? program : await compileInto(join(dir.path, "before"), [], BEFORE);
  const sets = join(dir.path, "validators.json");
  writeFileSync(sets, JSON.stringify({ sets: [chainValidators] }));
  const followed = SETTLE_SECS * SETTLE_SPEED + QUIET_SECS + FOLLOW_SECS + 5;
  const chain = signedChain({
    fids: Array.from({ length: ACCOUNTS }, (_, at) => 5001 + at),
    blocks: HISTORY_BLOCKS + followed,
    castsOf: (height) =>
      height <= HISTORY_BLOCKS ? (ACCOUNTS * CASTS_PER_ACCOUNT) / 2 / HISTORY_BLOCKS : CASTS_PER_BLOCK,
    startsAt: Math.floor(Date.now() / 1000) - HISTORY_BLOCKS - SETTLE_SECS * SETTLE_SPEED,
  });
  const heads = new Map(SHARDS.map((shard) => [shard, HISTORY_BLOCKS]));
  const nodes = await Promise.all(
    LEVELS.map(async ({ settings, isBefore }, at) => {
      const upstream = stack.use(await serveRecording(() => chain, heads));
      const given = [
        "protocol.network=devnet",
        `upstream.url=${upstream.url}`,
        ...(isBefore ? [] : [`trust.validators_file=${sets}`]),
        ...settings,
      ];
      return stack.use(
        await startNode({
          command: [isBefore ? before : program],
          dataDir: join(dir.path, `${at}`),
          args: given.flatMap((one) => ["--set", one]),
        }),
      );
    }),
  );
  let head = HISTORY_BLOCKS;
  const caughtUp = async () => {
    for (const node of nodes) while (!(await isAt(node, head))) await Bun.sleep(500);
  };
  const follow = async (secs: number, speed = 1) => {
    const [from, startedAt] = [head, performance.now()];
    for (let second = 0; second <= secs; second = (performance.now() - startedAt) / 1000) {
      head = from + Math.floor(second * speed);
      for (const shard of SHARDS) heads.set(shard, head);
      await Bun.sleep(1000 / TICKS_PER_SEC);
    }
  };
  await caughtUp();
  await follow(SETTLE_SECS, SETTLE_SPEED);
  await caughtUp();
  await follow(QUIET_SECS);
  const started = nodes.map(({ pid }) => cpuMicrosOf(pid));
  await follow(FOLLOW_SECS);
  const spent = nodes.map(({ pid }, at) => (cpuMicrosOf(pid) - (started[at] as number)) / FOLLOW_SECS);
  await caughtUp();
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
}

/** Reports whether a node has applied a block of each shard. */
async function isAt({ url }: RunningNode, height: number): Promise<boolean> {
  const response = await fetch(`${url}/status`);
  if (!response.ok) return false;
  const { upstream } = (await response.json()) as Status;
  return upstream.shards.every(({ applied_block: block }) => block >= height);
}
