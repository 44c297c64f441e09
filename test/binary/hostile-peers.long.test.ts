import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SignedChunk } from "../../src/protocol/wire/generated/certificate.ts";
import { HubEvent, HubEventType } from "../../src/protocol/wire/generated/hub.ts";
import type { SnapshotPage } from "../../src/protocol/wire/generated/snapshot.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { IS_LONG } from "../support/long.ts";
import { tempDir } from "../support/program.ts";
import { withEvents } from "../support/upstream/changed-events.ts";
import {
  type FollowedStatus,
  isProvenFrom,
  startCompiledFollower,
  untilStatus,
} from "../support/upstream/compiled-follower.ts";
import { type Recording, serveRecording } from "../support/upstream/recorded.ts";
import { RecordedAccounts } from "../support/upstream/recorded-accounts.ts";
import { withChunk } from "../support/upstream/recorded-nodes.ts";
import { chainValidators, commitsOf, signedChain } from "../support/upstream/signed-chain.ts";

const SHARDS = [0, 1, 2];
/** The snapshots, the newest block at first, the block that is lied about, and the last one. */
const [SNAPSHOT, START, LIE, LAST] = [8, 12, 20, 40];
const MAX_GROWTH_KIB = 100 * 1024;
const dir = tempDir();
afterAll(() => dir[Symbol.dispose]());

const chainOf = (over: Partial<Parameters<typeof signedChain>[0]> = {}) =>
  signedChain({
    fids: Array.from({ length: 8 }, (_, at) => 5001 + at),
    castsOf: () => 2,
    blocks: LAST,
    startsAt: Math.floor(Date.now() / 1000) - START,
    ...over,
  });
const honest = chainOf();

/** A node that serves a chain, and the honest state of its newest block. */
async function serve(heads: ReadonlyMap<number, number>, chain: Recording) {
  const accounts = new RecordedAccounts(honest, heads);
  for (const shard of SHARDS.slice(1)) accounts.snapshot(shard, SNAPSHOT);
  const upstream = await serveRecording(() => chain, heads, { accounts });
  return { ...upstream, url: upstream.url, accounts, [Symbol.dispose]: () => upstream[Symbol.dispose]() };
}

function eventsOf(chain: Recording): HubEvent[] {
  return (chain.events.get(1) ?? []).map(({ bytes }) => HubEvent.decode(bytes));
}

const messageOf = (event: HubEvent | undefined) =>
  event?.body?.$case === "mergeMessageBody" ? event.body.value.message : undefined;

function rssKib(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

/** Runs `verify --roots` over the index of a node that was stopped. Returns what it prints, and its exit code. */
async function verifyRoots(dataDir: string): Promise<readonly [string, number]> {
  const flags = ["--data-dir", dataDir, "--set", "protocol.network=devnet"];
  const child = Bun.spawn([...compiledProgram, ...flags, "verify", "--roots"], {
    env: { PATH: process.env.PATH ?? "", HOME: dir.path },
    stdout: "pipe",
    stderr: "ignore",
  });
  return [await new Response(child.stdout).text(), await child.exited];
}

type Change = (events: readonly HubEvent[]) => readonly HubEvent[];
const after = (events: readonly HubEvent[], event: Partial<HubEvent>): HubEvent => {
  const last = events.at(-1) as HubEvent;
  return { ...last, ...event, blockNumber: LIE, id: last.id + 1 };
};
const lies: readonly (readonly [what: string, change: Change])[] = [
  ["check 13: withholds a message", (events) => events.slice(0, -1)],
  [
    "check 14: invents a deletion",
    (events) => {
      const message = eventsOf(honest).map(messageOf).find(Boolean);
      const body = { $case: "pruneMessageBody", value: { message } } as const;
      return [...events, after(events, { type: HubEventType.HUB_EVENT_TYPE_PRUNE_MESSAGE, body })];
    },
  ],
  [
    "sends a message that the network does not have",
    (events) => {
      const foreign = eventsOf(chainOf({ castsOf: () => 30, blocks: 3 })).filter(messageOf);
      return [...events, after(events, { body: foreign.at(-1)?.body })];
    },
  ],
];

describe("a node that follows a lying node next to an honest one", () => {
  for (const [at, [what, change]] of lies.slice(0, IS_LONG ? lies.length : 1).entries())
    test(`${what}: it is found, healed from the other one, and the state is proven again`, async () => {
      const heads = new Map(SHARDS.map((shard) => [shard, START]));
      // The liar is followed, because the other one is behind.
      const behind = new Map(SHARDS.map((shard) => [shard, SNAPSHOT]));
      using liar = await serve(heads, withEvents(honest, 1, LIE, change));
      using other = await serve(behind, honest);
      const followed = { urls: [liar.url, other.url], sets: [chainValidators] };
      await using node = await startCompiledFollower(join(dir.path, `lie-${at}`), followed);
      await untilStatus(node, isProvenFrom(START));
      const move = (of: Map<number, number>, height: number) => {
        for (const shard of SHARDS) of.set(shard, height);
      };
      move(heads, LIE);
      await untilStatus(node, ({ trust }) => trust.mismatches > 0);
      move(behind, LIE);
      await untilStatus(node, ({ trust }) => trust.healed > 0);
      move(heads, LAST);
      move(behind, LAST);
      const { trust } = await untilStatus(node, isProvenFrom(LAST));
      expect([trust.mismatches, trust.healed, trust.refused]).toEqual([1, 1, {}]);
      await node.stop();
      const [text, code] = await verifyRoots(join(dir.path, `lie-${at}`));
      expect([text.match(/proven at 40/g)?.length, code]).toEqual([2, 0]);
    }, 120_000);
});

/** A page that is larger than one may be. */
const huge = (page: SnapshotPage): SnapshotPage => ({
  ...page,
  nextPageToken: "A".repeat(33 * 2 ** 20),
});
/** A message within messages, ten thousand deep. */
function bomb(): Uint8Array {
  let bytes: Uint8Array = new Uint8Array();
  for (let depth = 0; depth < 10_000; depth++) {
    const size = [(bytes.length & 127) | 128, ((bytes.length >> 7) & 127) | 128, bytes.length >> 14];
    bytes = Buffer.concat([Uint8Array.of(10, ...size), bytes]);
  }
  return bytes;
}
type PageChange = (page: SnapshotPage) => SnapshotPage;
const attacks: readonly (readonly [what: string, reason: string | undefined, change: PageChange])[] = [
  ["pages out of order", "order", (page) => ({ ...page, entries: page.entries.toReversed() })],
  ["pages without end", "no_progress", (page) => ({ ...page, nextPageToken: page.nextPageToken || "AAAA" })],
  ["a page of 33 MiB", undefined, huge],
  [
    "a depth bomb",
    undefined,
    (page) => ({ ...page, entries: page.entries.map((entry) => ({ ...entry, message: bomb() })) }),
  ],
];

test("check 26: pages without end, of 33 MiB or with a depth bomb, and 10,000 signatures take less than 100 MB, and nothing of them is stored", async () => {
  const heads = new Map(SHARDS.map((shard) => [shard, START]));
  using liar = await serve(heads, honest);
  let change: PageChange = (page) => page;
  let pages = 0;
  liar.accounts.snapshots.change = (page) => {
    pages += 1;
    return change(page);
  };
  for (const [what, reason, attack] of attacks) {
    change = attack;
    pages = 0;
    await using node = await startCompiledFollower(join(dir.path, what.replaceAll(" ", "-")), {
      urls: [liar.url],
      sets: [chainValidators],
    });
    const first = rssKib(node.pid);
    let most = first;
    const isOver = (status: FollowedStatus) => {
      most = Math.max(most, rssKib(node.pid));
      return reason === undefined ? pages > 2 : (status.trust.refused[reason] ?? 0) > 0;
    };
    const { index } = await untilStatus(node, isOver);
    expect([what, index.rows.messages, most - first < MAX_GROWTH_KIB]).toEqual([what, 0, true]);
  }

  const signed = (chunk: SignedChunk) => {
    const commits = commitsOf(1, LIE, chunk.hash);
    chunk.commits = { ...commits, signatures: Array.from({ length: 10_000 }, () => commits.signatures[0]!) };
  };
  using flooding = await serveRecording(
    () => withChunk(1, LIE, signed, honest),
    new Map(SHARDS.map((shard) => [shard, LAST])),
  );
  await using node = await startCompiledFollower(join(dir.path, "signatures"), {
    urls: [flooding.url],
    sets: [chainValidators],
  });
  const first = rssKib(node.pid);
  await untilStatus(node, ({ trust }) => (trust.refused.too_many_signatures ?? 0) > 0);
  expect(rssKib(node.pid) - first).toBeLessThan(MAX_GROWTH_KIB);
}, 200_000);
