import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openIndexInMemory } from "../../src/db/index/database.ts";
import { putPosition } from "../../src/db/index/positions.ts";
import { isAnyDirty } from "../../src/db/index/trie/account-roots.ts";
import { quarantinedAccounts, quarantinedPosition } from "../../src/db/index/trie/heals.ts";
import { shardProof } from "../../src/db/index/trie/shard-proofs.ts";
import { createRootKeeper } from "../../src/ingest/trie/root-keeper.ts";
import { createWorkBudget } from "../../src/ingest/trie/work-budget.ts";
import { HubEvent, HubEventType } from "../../src/protocol/wire/generated/hub.ts";
import { type Message, MessageType } from "../../src/protocol/wire/generated/message.ts";
import { OnChainEvent } from "../../src/protocol/wire/generated/on-chain.ts";
import type { SnapshotEntry } from "../../src/protocol/wire/generated/snapshot.ts";
import { accountPrefix, fidOfKey, messageKind } from "../../src/trust/trie-key.ts";
import { withEvents } from "../support/upstream/changed-events.ts";
import { followNetwork, type ServedNetwork, serveNetwork } from "../support/upstream/follow-recorded.ts";
import { type Recording, recordedChain } from "../support/upstream/recorded.ts";
import {
  RECORDED_NETWORK,
  RECORDED_TIMINGS,
  type RecordedIndex,
} from "../support/upstream/recorded-index.ts";

const SHARDS = [1, 2];
/** The home of both fids. */
const SHARD = 2;
/** A reaction of 5008 is merged in the block, and nothing happens in the other. */
const [MERGES, QUIET] = [73, 300];

function mergedMessages(recording: Recording): Message[] {
  return (recording.events.get(SHARD) ?? []).flatMap(({ bytes }) => {
    const { body } = HubEvent.decode(bytes);
    return body?.$case === "mergeMessageBody" ? (body.value.message ?? []) : [];
  });
}

const isOf = (event: HubEvent, fid: number) =>
  event.body?.$case === "mergeMessageBody" && event.body.value.message?.data?.fid === fid;

const honest = recordedChain("");
const reactionsAndCasts = [MessageType.MESSAGE_TYPE_REACTION_ADD, MessageType.MESSAGE_TYPE_CAST_ADD].map(
  messageKind,
);
const isUnlied = ({ key }: SnapshotEntry) =>
  ![5006, 5008].includes(fidOfKey(key)) || !reactionsAndCasts.includes(key[5] as number);
const filterUnlied = (entries: readonly SnapshotEntry[]) => entries.filter(isUnlied);
/** Without the reaction of 5008. */
const withoutReaction = (recording: Recording) =>
  withEvents(recording, SHARD, MERGES, (events) => events.filter((event) => !isOf(event, 5008)));

test("an upstream may withhold a reaction, its account and the trie: another node proves the account and has it", async () => {
  const options = { last: 400, snapshots: { 1: 60, 2: 60 } };
  await using liar = await serveNetwork("oneValidator", { ...options, change: withoutReaction });
  await using other = await serveNetwork("oneValidator", options);
  if (liar.accounts) Object.assign(liar.accounts, { hidesTrie: true, change: filterUnlied });
  // The liar is followed first, because the other one is behind.
  for (const shard of [0, ...SHARDS]) other.heads.set(shard, 350);
  const timings = { ...RECORDED_TIMINGS, headPollMs: 250 };
  await using index = followNetwork("oneValidator", [liar, other], {
    roots: "full",
    retries: true,
    follower: { timings },
  });
  await index.caughtUp();
  for (const shard of [0, ...SHARDS]) other.heads.set(shard, 400);
  await index.until(() => index.healings.length > 0);
  expect(index.healings).toEqual([{ outcome: "healed", shard: SHARD, fid: 5008, kinds: ["reaction_add"] }]);
  expect(index.follower.progress().upstreams[0]?.isActive).toBe(true);
});

describe("an upstream that has left out a reaction of 5008 and deleted a cast of 5006", () => {
  let served: ServedNetwork;
  let index: RecordedIndex;
  const cast = mergedMessages(honest).find(
    ({ data }) => data?.fid === 5006 && data.type === MessageType.MESSAGE_TYPE_CAST_ADD,
  );

  beforeAll(async () => {
    served = await serveNetwork("oneValidator", {
      last: 400,
      snapshots: { 1: 60, 2: 60 },
      change: (recording) =>
        withEvents(withoutReaction(recording), SHARD, QUIET, (events) => {
          const id = (events.at(-1)?.id ?? 0) + 1;
          const body = { $case: "pruneMessageBody", value: { message: cast } } as const;
          const type = HubEventType.HUB_EVENT_TYPE_PRUNE_MESSAGE;
          return [...events, { ...(events[0] as HubEvent), id, type, body }];
        }),
    });
    // What it lists of the two fids lacks both messages, and has another custody address.
    if (served.accounts) served.accounts.change = (entries) => entries.filter(isUnlied).map(withOtherCustody);
    index = followNetwork("oneValidator", [served], { roots: "full", retries: true });
    await index.caughtUp();
  });
  afterAll(async () => {
    await index[Symbol.asyncDispose]();
    await served[Symbol.asyncDispose]();
  });

  const withOtherCustody = (entry: SnapshotEntry): SnapshotEntry => {
    const event = entry.onChainEvent && OnChainEvent.decode(entry.onChainEvent);
    if (event?.body?.$case !== "idRegisterEventBody") return entry;
    event.body.value.to = event.body.value.to.toReversed();
    return { ...entry, onChainEvent: OnChainEvent.encode(event).finish() };
  };
  const rowsOf = (table: string) => index.db.sqlite.query(`SELECT * FROM ${table}`).all();
  const isProven = () => SHARDS.every((shard) => (shardProof(index.db, shard).provenHeight ?? 0) > 400);

  test("changes nothing by what it lists then: the accounts are quarantined and named", async () => {
    const [casts, events] = [rowsOf("casts"), rowsOf("on_chain_events WHERE type = 3")];
    await index.until(() => index.healings.length === 2);
    expect(index.healings).toContainEqual(expect.objectContaining({ outcome: "quarantined", fid: 5006 }));
    expect(index.healings).toContainEqual(expect.objectContaining({ outcome: "quarantined", fid: 5008 }));
    expect(quarantinedAccounts(index.db)).toHaveLength(2);
    expect(rowsOf("casts")).toEqual(casts);
    expect(rowsOf("on_chain_events WHERE type = 3")).toEqual(events);
    const { trust } = index.follower.progress();
    expect(trust.healing.quarantined.map(({ fid }) => fid).sort()).toEqual([5006, 5008]);
    expect(trust.states.find(({ shard }) => shard === SHARD)?.state).toBe("differs");
  });

  test("is repaired a day later by what it lists truly, but for contents that no root binds", async () => {
    const events = rowsOf("on_chain_events WHERE type = 3");
    if (served.accounts) served.accounts.change = (entries) => entries.map(withOtherCustody);
    index.clock.advanceSecs(86_400);
    for (const shard of [0, ...SHARDS]) served.heads.set(shard, 401);
    await index.until(() => index.healings.length === 4);
    expect(index.healings).toContainEqual({
      outcome: "healed",
      shard: SHARD,
      fid: 5006,
      kinds: ["cast_add"],
    });
    expect(index.healings).toContainEqual({
      outcome: "healed",
      shard: SHARD,
      fid: 5008,
      kinds: ["reaction_add"],
    });
    for (const shard of [0, ...SHARDS]) served.heads.set(shard, 402);
    await index.until(isProven);
    expect(rowsOf("on_chain_events WHERE type = 3")).toEqual(events);
    expect(index.follower.progress().trust.healing).toEqual({ healed: 2, quarantined: [] });
  });

  test("quarantined accounts that a block has made right are released by the next block with the signed state", async () => {
    const account = accountPrefix(5006);
    const { key, position } = quarantinedPosition(SHARD, account, index.clock.nowMs() / 1000);
    index.db.transaction(() => putPosition(index.db, key, position));
    expect(index.follower.progress().trust.healing.quarantined).toHaveLength(1);
    for (const shard of [0, ...SHARDS]) served.heads.set(shard, 403);
    await index.until(() => index.follower.progress().trust.healing.quarantined.length === 0);
  });

  test("rows that are lost on the disk are found while blocks are applied, and read again", async () => {
    const lost = "FROM on_chain_events WHERE type = 1 AND fid = 5007";
    const before = index.db.sqlite.query(`SELECT * ${lost}`).all();
    index.db.sqlite.run(`DELETE ${lost}`);
    for (let height = 404; index.healings.length === 4; height++) {
      for (const shard of [0, ...SHARDS]) served.heads.set(shard, height);
      await index.caughtUp();
      if (shardProof(index.db, 1).mismatchHeight !== null) await index.until(() => index.healings.length > 4);
    }
    expect(index.healings.at(-1)).toMatchObject({ outcome: "healed", fid: 5007, kinds: ["event_signer"] });
    expect(index.db.sqlite.query(`SELECT * ${lost}`).all().length).toBe(before.length);
  });
});

test("check 12: with trust.roots = sample, a row that the disk lost is found while blocks are applied, and healed", async () => {
  await using served = await serveNetwork("oneValidator", { last: 400, snapshots: { 1: 60, 2: 60 } });
  using db = openIndexInMemory();
  const budget = createWorkBudget(() => performance.now());
  const roots = createRootKeeper({ db, network: RECORDED_NETWORK, budget, maxKeysAtOnce: 5000 });
  const options = { db, roots: "sample", retries: true, engine: { roots } } as const;
  await using index = followNetwork("oneValidator", [served], options);
  await index.caughtUp();
  const isMismatched = (shard: number) => shardProof(db, shard).mismatchHeight !== null;
  const isProven = (shard: number) => !isMismatched(shard) && !isAnyDirty(db, shard);
  let height = 400;
  const next = async () => {
    height += 1;
    for (const shard of [0, ...SHARDS]) served.heads.set(shard, height);
    await index.caughtUp();
  };
  while (!SHARDS.every(isProven)) await next();
  const lost = "FROM on_chain_events WHERE type = 1 AND fid = 5007";
  const before = db.sqlite.query(`SELECT * ${lost}`).all();
  db.sqlite.run(`DELETE ${lost}`);
  while (index.healings.length === 0) {
    await next();
    // Kinds that the budget postponed wait for the next block.
    if (SHARDS.some(isMismatched))
      await index.until(() => index.healings.length > 0 || !SHARDS.some(isMismatched));
  }
  expect(index.healings).toMatchObject([{ outcome: "healed", fid: 5007, kinds: ["event_signer"] }]);
  expect(db.sqlite.query(`SELECT * ${lost}`).all()).toHaveLength(before.length);
});
