import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { channelsActiveAt } from "../../src/db/index/channels/follows.ts";
import { eventsAfter } from "../../src/db/index/log/outbox.ts";
import { unknownCounts } from "../../src/db/index/unknown-records.ts";
import { channelIdOfEvent } from "../../src/protocol/channels/registrations.ts";
import { decodeMessage, type SignedMessage, toWire } from "../../src/protocol/message/signed-message.ts";
import type { BlockEventData } from "../../src/protocol/wire/generated/block.ts";
import { FarcasterNetwork, Message, MessageType as T } from "../../src/protocol/wire/generated/message.ts";
import { OnChainEvent, OnChainEventType } from "../../src/protocol/wire/generated/on-chain.ts";
import { IS_LONG } from "../support/long.ts";
import {
  DEFAULT_NOW_SECS,
  makeSigner,
  sealDataBytes,
  signMessage,
  type TestData,
} from "../support/messages.ts";
import { expectOk } from "../support/result.ts";
import { boundaryState, verificationEvents } from "../support/upstream/boundary-checks.ts";
import { type Chain, makeBoundaryChain } from "../support/upstream/chain.ts";
import type { Decided, DecidingShard } from "../support/upstream/deciding-shard.ts";
import { FollowedIndex } from "../support/upstream/followed-index.ts";
import { UpstreamNode } from "../support/upstream/node.ts";
import { anyPlan, type Plan, type Step } from "../support/upstream/plan.ts";
import { makeStage, runPlan, type Stage } from "../support/upstream/run-plan.ts";
import { UpstreamServer } from "../support/upstream/server.ts";

/** Set BOUNDARY_PLANS=200 for a heavy run. */
const PLANS = Number(process.env.BOUNDARY_PLANS ?? (IS_LONG ? 60 : 3));
const TIMEOUT_MS = 90_000 + PLANS * 5000;
const TICKS = { before: 24, after: IS_LONG ? 200 : 100 };
const SEEDS = IS_LONG ? ["boundary 1", "boundary 2", "boundary 3"] : ["boundary 1"];

const stages = new Map<number, Stage>();

function stageOf(chain: number): Stage {
  return stages.getOrInsertComputed(chain, () => makeStage(makeBoundaryChain(SEEDS[chain] ?? "", TICKS)));
}

/** Runs a plan, and compares the follower with what shard 0 decided: after each commit, and at the end. */
async function follows(plan: Plan, stage = stageOf(plan.chain)) {
  const { result, contradictions, refusals } = await runPlan(stage, plan, {
    inspect: (db, _, node) => ({
      dump: stage.chain.dumpOf(db),
      state: boundaryState(db, node),
      events: verificationEvents(db, node, plan.history),
      activeAt: channelsActiveAt(db),
    }),
  });
  expect(contradictions).toEqual([]);
  expect([...refusals]).toEqual([]);
  expect(result.state.has).toEqual(result.state.must);
  expect(result.dump).toBe(stage.chain.referenceDump);
  return result;
}

/** Returns the seconds until all data shards had replayed the decision that took longest, and the last of them. */
function longestLag({ ticks, decided }: Chain): { readonly secs: number; readonly until: number } {
  const replayed = ticks.map(({ data }) =>
    Math.min(
      ...data.map(({ events: [confirmed] }) =>
        confirmed?.body?.$case === "blockConfirmedBody" ? confirmed.body.value.maxBlockEventSeqnum : 0,
      ),
    ),
  );
  let longest = { secs: 0, until: 0 };
  for (const { seqnum, tick } of decided?.decided ?? []) {
    const until = replayed.findIndex((last) => last >= seqnum);
    if (until - tick > longest.secs) longest = { secs: until - tick, until };
  }
  return longest;
}

const WITHOUT_FAULTS = { chain: 0, mostPerPage: 1000, calls: [], deliveries: [], commits: [] };

describe("a node that followed the network before V21", () => {
  const step: readonly Step[] = [{ do: "produce", ticks: 1 }, { do: "catchUp" }];
  const blockByBlock = Array.from({ length: TICKS.before + TICKS.after }, () => step).flat();

  test(
    "crosses the boundary block by block while a data shard falls more than a minute behind: no verification is lost, doubled or refused at any commit",
    async () => {
      expect(longestLag(stageOf(0).chain).secs).toBeGreaterThan(60);
      const { events } = await follows({ ...WITHOUT_FAULTS, history: 10, steps: blockByBlock });
      expect(events.has).toEqual(events.must);
      expect(events.must.length).toBeGreaterThan(40);
    },
    TIMEOUT_MS,
  );

  test(
    "check 1: an index that is filled while a data shard is far behind has the verifications of shard 0, too",
    async () => {
      const { until } = longestLag(stageOf(0).chain);
      await follows({ ...WITHOUT_FAULTS, history: until, steps: [{ do: "catchUp" }] });
    },
    TIMEOUT_MS,
  );

  test(
    "check 26: does so on the main network, where it knows no date and no registrar: the first decision proves the date",
    async () => {
      const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
      const chain = makeBoundaryChain("without a date", { before: 14, after: 40, network });
      const { activeAt } = await follows(
        { ...WITHOUT_FAULTS, history: 10, steps: blockByBlock },
        makeStage(chain),
      );
      expect(activeAt).toBe(chain.boundary?.activeAt);
    },
    TIMEOUT_MS,
  );

  test(
    "ends in the state of shard 0 despite faults, crashes and missed events on both sides of the boundary",
    async () => {
      // Deleted blocks of shard 0 are another test: `recorded-channels`.
      const keeps = (step: Step): Step => ("blocksToo" in step ? { ...step, blocksToo: false } : step);
      const plans = anyPlan(SEEDS.length, TICKS.before + TICKS.after).map(({ steps, ...plan }) => ({
        ...plan,
        steps: steps.map(keeps),
      }));
      await fc.assert(
        fc.asyncProperty(plans, async (plan) => void (await follows(plan))),
        {
          numRuns: PLANS,
          interruptAfterTimeLimit: TIMEOUT_MS - 30_000,
          endOnFailure: process.env.BOUNDARY_SHRINK === undefined,
        },
      );
    },
    TIMEOUT_MS,
  );

  test("check 31: a registration that the list of the node has first is an event of the block that decided it", async () => {
    const { chain } = stageOf(0);
    const node = new UpstreamNode(chain);
    node.produce(10);
    // Shard 0 cannot be read from the first list of registrations on.
    let lists = 0;
    let isOver = false;
    const onCall = (method: string, request: unknown) => {
      if (method === "GetOnChainEvents" && (request as { fid: number }).fid === 0) lists += 1;
      return lists > 0 && !isOver && method === "GetBlocks" ? ("fail" as const) : undefined;
    };
    let index: FollowedIndex | undefined;
    const faults = { onCall, onDelivery: () => undefined };
    const server = new UpstreamServer(node, { faults, onCall: () => index?.wake() });
    await server.start();
    index = new FollowedIndex({ node, url: server.url, nowSecs: chain.endsAt });
    try {
      index.start();
      await index.until(() => lists > 0);
      node.produce(TICKS.before + 2);
      const before = lists;
      await index.until(() => lists > before + 1);
      isOver = true;
      await index.caughtUp();
      const created = eventsAfter(index.db, 0, 10_000).filter(({ kind }) => kind === "channel.created");
      expect(created).toHaveLength(5);
    } finally {
      await index.stop();
      server.stop();
      index.db[Symbol.dispose]();
    }
  });
});

/** What a hostile node puts into blocks of shard 0 in place of heartbeats. */
function forgedBodies(
  chain: Chain,
): readonly { readonly type: number; readonly body: BlockEventData["body"] }[] {
  const someone = chain.decided?.decided.find(
    ({ message }) => message?.data.type === T.MESSAGE_TYPE_VERIFICATION_ADD,
  );
  const { network } = chain;
  const verification = toWire(someone?.message as SignedMessage);
  const signer = makeSigner("account 3");
  const merge = (bytes: Uint8Array) => ({
    type: 1,
    body: { $case: "mergeMessageEventBody" as const, value: { message: Message.decode(bytes) } },
  });
  const register = (channelKey: string, label: Uint8Array) => ({
    type: 2,
    body: {
      $case: "mergeOnChainEventBody" as const,
      value: {
        onChainEvent: OnChainEvent.fromPartial({
          type: OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER,
          blockNumber: 9_000,
          blockTimestamp: DEFAULT_NOW_SECS,
          blockHash: new Uint8Array(32),
          transactionHash: new Uint8Array(32),
          body: {
            $case: "channelRegisterEventBody",
            value: { channelKey, expiry: 1, ownerAddress: new Uint8Array(20), eventType: 1, label },
          },
        }),
      },
    },
  });
  const pinned = { channelId: new Uint8Array(31), castHash: new Uint8Array(20) };
  const unfit: TestData = {
    type: T.MESSAGE_TYPE_CHANNEL_PIN,
    fid: 3,
    network,
    body: { $case: "channelPinBody", value: pinned },
  };
  const mismatched: TestData = { ...unfit, type: T.MESSAGE_TYPE_CHANNEL_MODERATE };
  const large = {
    $case: "channelPinBody" as const,
    value: { ...pinned, castHash: new Uint8Array(1_000_000) },
  };
  return [
    // A type of the future: type 99 of fid 4.
    merge(
      Message.encode(
        sealDataBytes(Uint8Array.of(8, 99, 16, 4, 24, 0x80, 0x80, 0x80, 0x46, 32, 1), signer),
      ).finish(),
    ),
    merge(Message.encode({ ...verification, signature: new Uint8Array(64) }).finish()),
    merge(Message.encode({ ...verification, hash: new Uint8Array(20) }).finish()),
    merge(signMessage(unfit, signer)),
    merge(signMessage(mismatched, signer)),
    merge(signMessage({ ...unfit, body: large }, signer)),
    merge(Uint8Array.of()),
    { type: 42, body: undefined },
    register("k".repeat(5_000), new Uint8Array(32).fill(1)),
  ];
}

const LIVE: readonly Step[] = Array.from({ length: 12 }, (): readonly Step[] => [
  { do: "produce", ticks: 10 },
  { do: "catchUp" },
]).flat();

test.each([
  ["while its history is read", []],
  ["live", LIVE],
] as const)(
  "a hostile node gets nothing into the index with forged block events %s, and what the program does not know is kept and counted",
  async (_, steps) => {
    const chain = makeBoundaryChain("hostile", { before: 12, after: 100 });
    const heartbeats = chain.ticks
      .flatMap(({ zero }) => zero.block.events)
      .filter(({ data }) => data?.body?.$case === "heartbeatEventBody");
    const forged = forgedBodies(chain);
    expect(heartbeats.length).toBeGreaterThan(forged.length + 2);
    for (const [at, one] of forged.entries()) Object.assign(heartbeats[at + 2]?.data ?? {}, one);
    const { result } = await runPlan(
      makeStage(chain),
      { ...WITHOUT_FAULTS, history: 10, steps },
      {
        inspect: (db, _, node) => ({
          dump: chain.dumpOf(db),
          state: boundaryState(db, node),
          unknown: unknownCounts(db).map(({ kind, number, seen }) => `${seen} of ${kind} ${number}`),
        }),
      },
    );
    expect(result.state.has).toEqual(result.state.must);
    expect(result.dump).toBe(chain.referenceDump);
    expect(result.unknown).toContain("1 of message 99");
    expect(result.unknown).toContain("1 of block_event 42");
  },
);

/** The heartbeats of shard 0 since some seconds after the boundary: other events may take their places. */
function placesIn(chain: Chain) {
  return chain.ticks.flatMap(({ at, zero }, tick) =>
    at < (chain.boundary?.activeAt ?? 0) + 20
      ? []
      : zero.block.events.flatMap(({ data }) =>
          data?.body?.$case === "heartbeatEventBody" ? { data, tick } : [],
        ),
  );
}

/** What shard 0 may decide, although no honest client sends it: repeated, without authority, at a place that is taken. */
function oddDecisions(chain: Chain): readonly Omit<Decided, "seqnum" | "tick">[] {
  const { network } = chain;
  const decided = chain.decided?.decided ?? [];
  const last = (isWanted: (one: Decided) => boolean) => decided.findLast(isWanted) ?? {};
  const registered = decided.find(({ event }) => event)?.event as OnChainEvent;
  const channelId = channelIdOfEvent(registered) as Uint8Array;
  const registry = (logIndex: number, eventType: number, owner: number): Omit<Decided, "seqnum" | "tick"> => {
    const event = OnChainEvent.decode(OnChainEvent.encode(registered).finish());
    Object.assign(event, { blockNumber: 1_000_000, logIndex });
    if (event.body?.$case === "channelRegisterEventBody")
      Object.assign(event.body.value, {
        eventType,
        ownerAddress: new Uint8Array(20).fill(owner),
        expiry: owner,
      });
    return { event };
  };
  const ofStranger = (type: T, body: TestData["body"]) => {
    const message = expectOk(
      decodeMessage(signMessage({ type, fid: 7, network, body }, makeSigner("account 7"))),
    );
    return { message };
  };
  const pin = (n: number) =>
    ofStranger(T.MESSAGE_TYPE_CHANNEL_PIN, {
      $case: "channelPinBody",
      value: { channelId, castHash: new Uint8Array(20).fill(n) },
    });
  const [first, second] = [pin(1), pin(2)];
  return [
    last(({ message }) => message?.data.type === T.MESSAGE_TYPE_VERIFICATION_ADD),
    registry(1, 3, 1),
    registry(2, 3, 2),
    registry(2, 3, 9),
    registry(3, 2, 3),
    registry(0, 3, 4),
    first,
    second,
    first,
    ofStranger(T.MESSAGE_TYPE_CHANNEL_MODERATE, {
      $case: "channelModerateBody",
      value: { channelId, castHash: new Uint8Array(20).fill(3), action: 1 },
    }),
    ofStranger(T.MESSAGE_TYPE_CHANNEL_MEMBER, {
      $case: "channelMemberBody",
      value: { channelId: new Uint8Array(32).fill(4), fid: 7, action: 3 },
    }),
  ];
}

test.each([
  ["while its history is read", 150],
  ["live", 10],
] as const)(
  "checks 4, 6 and 11: what shard 0 decides again, without authority or for a place that is taken is applied %s as its last decisions say, and is not a second event",
  async (how, history) => {
    const chain = makeBoundaryChain("odd decisions", { before: 12, after: 80 });
    const odd = oddDecisions(chain);
    const places = placesIn(chain);
    expect(places.length).toBeGreaterThanOrEqual(odd.length);
    const { decided } = chain.decided as DecidingShard;
    for (const [at, one] of odd.entries()) {
      const { data, tick } = places[at] as (typeof places)[number];
      Object.assign(data, one.event ? { type: 2 } : { type: 1 });
      data.body = one.event
        ? { $case: "mergeOnChainEventBody", value: { onChainEvent: one.event } }
        : { $case: "mergeMessageEventBody", value: { message: toWire(one.message as SignedMessage) } };
      decided.push({ ...one, seqnum: data.seqnum, tick });
    }
    decided.sort((a, b) => a.seqnum - b.seqnum);
    const { result } = await runPlan(
      makeStage(chain),
      { ...WITHOUT_FAULTS, history, steps: [{ do: "catchUp" }, ...LIVE] },
      {
        inspect: (db, _, node) => ({
          state: boundaryState(db, node),
          events: verificationEvents(db, node, history),
          unknown: unknownCounts(db),
        }),
      },
    );
    expect(result.state.has).toEqual(result.state.must);
    if (how === "live") expect(result.events.has).toEqual(result.events.must);
    expect(result.unknown).toEqual([]);
  },
);
