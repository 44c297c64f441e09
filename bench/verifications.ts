import { Client, credentials } from "@grpc/grpc-js";
import { seededRandom } from "../src/demo/random.ts";
import { createIngestEngine } from "../src/ingest/engine.ts";
import { slotOf } from "../src/protocol/message/merge-rules.ts";
import { engineSchedule } from "../src/protocol/network/engine-versions.ts";
import { toFarcasterSecs } from "../src/protocol/time.ts";
import { FarcasterNetwork } from "../src/protocol/wire/generated/message.ts";
import { createUpstreamClient } from "../src/upstream/calls/client.ts";
import { startFollower } from "../src/upstream/follow/follower.ts";
import { DEFAULT_TIMINGS } from "../src/upstream/timings.ts";
import { ManualClock } from "../test/support/clock.ts";
import { TEST_NAME_SERVER } from "../test/support/events.ts";
import { DEFAULT_NOW_SECS, signedCast } from "../test/support/messages.ts";
import { temporaryIndex } from "../test/support/temporary-index.ts";
import { callsAtOnce } from "../test/support/upstream/calls.ts";
import { Chain } from "../test/support/upstream/chain.ts";
import { claim } from "../test/support/upstream/channel-acts.ts";
import { UpstreamNode } from "../test/support/upstream/node.ts";
import { type Action, Draft } from "../test/support/upstream/script.ts";
import { UpstreamServer } from "../test/support/upstream/server.ts";
import { DATA_SHARDS } from "../test/support/upstream/shards.ts";
import type { Figure } from "./main.ts";

const PEOPLE = 50;
const UNITS = 20;
const BLOCKS = 100;
const MESSAGES_PER_BLOCK = 100;
const VERIFICATIONS_PER_BLOCK = 3;
/** Mainnet makes one block per shard and second, with about 25 messages. */
const BLOCK_MS = 250;
const GOAL_MS = 2000;
const NETWORK = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;

/**
 * Measures how long after a block of shard 0 its verifications are served, while 10,000 messages are followed at sixteen
 * times the rate of mainnet and the data shards fall behind in replaying shard 0. The baseline is a client that polls and
 * subscribes like the follower, and discards what it receives. The upstream is in the same process, in both runs.
 */
export async function benchVerifications(): Promise<Figure[]> {
  const { chain, verifications } = makeNetwork();
  const bare = await measured(chain, receive);
  const served = await measured(chain, (scene) => follow(scene, verifications));
  const of = "a block of shard 0 is received, bare client";
  const whole = "all blocks are received, bare client";
  const late = served.afterMs.filter((ms) => ms > GOAL_MS).length;
  const time = (what: string, value: number, baseline?: number): Figure => ({
    what,
    value,
    unit: "ms",
    ...(baseline && { ratio: { of, value: value / baseline } }),
  });
  return [
    { what: "messages", value: BLOCKS * MESSAGES_PER_BLOCK, unit: `in ${BLOCKS} blocks of each shard` },
    time(`${of}, median`, at(bare.afterMs, 0.5)),
    time("the verifications of a block are served, median", at(served.afterMs, 0.5), at(bare.afterMs, 0.5)),
    time("the same, longest", at(served.afterMs, 1), at(bare.afterMs, 1)),
    { what: `blocks after more than ${GOAL_MS} ms`, value: late, unit: `of ${served.afterMs.length}` },
    time("CPU until they are served, longest: what a busy machine does not change", at(served.afterCpuMs, 1)),
    { what: `CPU, ${whole}`, value: bare.cpuMs, unit: "ms" },
    {
      what: "CPU, all are followed",
      value: served.cpuMs,
      unit: "ms",
      ratio: { of: whole, value: served.cpuMs / bare.cpuMs },
    },
  ];
}

const at = (times: readonly number[], share: number) =>
  times.toSorted((a, b) => a - b)[Math.ceil(share * times.length) - 1] ?? Number.NaN;

/** Returns a network of engine V21, and the addresses, in hex, that are verified in each block. */
function makeNetwork() {
  const activeAt = DEFAULT_NOW_SECS + 10;
  const schedule = engineSchedule(NETWORK, [`21=${activeAt}`]);
  const chain = new Chain(NETWORK, { activeAt, schedule, followed: schedule });
  const draft = new Draft(seededRandom("verifications"), NETWORK);
  const people = Array.from({ length: PEOPLE }, (_, n) => n + 1);
  chain.add({ at: draft.nowSecs, actions: people.flatMap((fid) => draft.join(fid, UNITS)) });
  draft.nowSecs = activeAt;
  for (let block = 1; block <= BLOCKS; block++, draft.nowSecs++) {
    const actions = Array.from({ length: MESSAGES_PER_BLOCK }, (_, n): Action => {
      const who = draft.people[(block * 7 + n) % PEOPLE];
      const key = who?.keys[0];
      if (!who || !key) throw new Error("a person without a key");
      const timestamp = toFarcasterSecs(draft.nowSecs);
      if (n < VERIFICATIONS_PER_BLOCK) return claim(draft, who, `wallet ${block} ${n}`, timestamp);
      const bytes = signedCast(who.fid, `cast ${block} ${n}`, key, { timestamp, network: NETWORK });
      return { fid: who.fid, record: { kind: "message", bytes } };
    });
    chain.add({ at: draft.nowSecs, actions });
  }
  const verifications = new Map<number, string[]>();
  for (const { tick, message } of chain.decided?.decided ?? [])
    if (message) verifications.getOrInsertComputed(tick, () => []).push(slotOf(message).slot.toHex());
  if (verifications.size !== BLOCKS) throw new Error("shard 0 did not decide verifications in every block");
  return { chain, verifications };
}

interface Scene {
  readonly chain: Chain;
  readonly node: UpstreamNode;
  readonly url: string;
}

/** Reports which blocks have arrived, by their number in the chain. */
interface Reader extends AsyncDisposable {
  has(block: number): boolean;
}

/**
 * Produces the blocks at a fixed rate. Returns how long after each block of shard 0 a reader had it, and the total CPU time.
 */
async function measured(chain: Chain, start: (scene: Scene) => Promise<Reader>) {
  const node = new UpstreamNode(chain);
  const server = new UpstreamServer(node);
  await server.start();
  node.produce(1);
  const afterMs: number[] = [];
  const afterCpuMs: number[] = [];
  const madeAtCpuMs: number[] = [];
  {
    await using reader = await start({ chain, node, url: server.url });
    const beganCpuMs = cpuMs();
    const beganMs = performance.now();
    for (let made = 0, seen = 0; seen < BLOCKS; await Bun.sleep(5)) {
      const elapsed = performance.now() - beganMs;
      for (; made < BLOCKS && made * BLOCK_MS <= elapsed; made++) {
        madeAtCpuMs.push(cpuMs());
        node.produce(made + 2);
      }
      for (; seen < made && reader.has(seen + 1); seen++) {
        afterMs.push(performance.now() - beganMs - seen * BLOCK_MS);
        afterCpuMs.push(cpuMs() - (madeAtCpuMs[seen] ?? 0));
      }
    }
    server.stop();
    return { afterMs, afterCpuMs, cpuMs: cpuMs() - beganCpuMs };
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function follow(
  { chain, node, url }: Scene,
  verifications: ReadonlyMap<number, readonly string[]>,
): Promise<Reader> {
  const index = temporaryIndex();
  const clock = new ManualClock(chain.endsAt);
  const onFault = (cause: unknown) => {
    throw cause;
  };
  const schedule = chain.boundary?.followed;
  const engine = createIngestEngine({
    db: index.db,
    network: NETWORK,
    clock,
    onFault,
    ...(schedule && { schedule }),
  });
  const follower = startFollower({
    urls: [url],
    db: index.db,
    writer: { apply: async (batch) => engine.applyRelayed(batch), buildStep: async () => engine.buildStep() },
    network: NETWORK,
    ...(schedule && { schedule }),
    nameServer: TEST_NAME_SERVER.address,
    clock,
    fids: undefined,
    calls: callsAtOnce(8),
    timings: DEFAULT_TIMINGS,
    onFault: (what, cause) => process.stderr.write(`${what}: ${cause}\n`),
    onPeerError: ({ reason }) => process.stderr.write(`${reason}\n`),
    onRefused: ({ reason }) => process.stderr.write(`${reason}\n`),
  });
  const live = index.db.sqlite.query("SELECT 1 FROM verifications WHERE address = ?");
  while (follower.progress().phase !== "live") await Bun.sleep(10);
  return {
    has: (block) =>
      (verifications.get(block) ?? []).every((address) => live.get(Buffer.from(address, "hex")) !== null),
    async [Symbol.asyncDispose]() {
      await follower.stop();
      index[Symbol.dispose]();
      if (node.produced(0) <= BLOCKS) throw new Error("the network was not whole");
    },
  };
}

async function receive({ url }: Scene): Promise<Reader> {
  const connection = new Client(url.replace("http://", ""), credentials.createInsecure());
  const done = new AbortController();
  const client = createUpstreamClient(connection, DEFAULT_TIMINGS, done.signal);
  let received = 0;
  const poll = async () => {
    for (let next = 1; !done.signal.aborted; await Bun.sleep(DEFAULT_TIMINGS.pollMs)) {
      using blocks = client.blocks(next);
      for await (const { header } of blocks) {
        next = (header?.height?.blockNumber ?? 0) + 1;
        received += 1;
      }
    }
  };
  const subscribe = async (shard: number) => {
    using events = client.subscribe(shard);
    for await (const _ of events);
  };
  const reading = [poll(), ...DATA_SHARDS.map(subscribe)].map((one) => one.catch(() => {}));
  await Bun.sleep(DEFAULT_TIMINGS.pollMs);
  return {
    // The first block contains the accounts.
    has: (block) => received > block,
    async [Symbol.asyncDispose]() {
      done.abort();
      connection.close();
      await Promise.all(reading);
    },
  };
}
