import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client, credentials } from "@grpc/grpc-js";
import { HUB_EVENT_TYPES, nameOf } from "../../src/api/operations/hub/names.ts";
import { channelsActiveAt } from "../../src/db/index/channels/follows.ts";
import { channelHistoryOf, forgetDecisions } from "../../src/db/index/channels/history.ts";
import { fidOfOwner, putOwnerClaim } from "../../src/db/index/channels/owner-claims.ts";
import { findRegistrationByKey, settingsOf } from "../../src/db/index/channels/registrations.ts";
import { countsOfChannel, findSlot, putSlot } from "../../src/db/index/channels/slots.ts";
import { type IndexDatabase, openIndexInMemory } from "../../src/db/index/database.ts";
import { eventsAfter } from "../../src/db/index/log/outbox.ts";
import { FrameDecoder } from "../../src/import/record-file.ts";
import {
  ChannelSlotKind,
  isChannelMessage,
  MemberState,
  memberTarget,
  SlotState,
} from "../../src/protocol/channels/slots.ts";
import { isChannelEvent } from "../../src/protocol/event-kind.ts";
import { blockOfEvent } from "../../src/protocol/hub-event-id.ts";
import { HubEvent, HubEventType } from "../../src/protocol/wire/generated/hub.ts";
import { MessageData } from "../../src/protocol/wire/generated/message.ts";
import { OnChainEventType } from "../../src/protocol/wire/generated/on-chain.ts";
import { startTestHub } from "../support/hub.ts";
import { recorded, startRecordedUpstream } from "../support/upstream/recorded.ts";
import { followRecorded } from "../support/upstream/recorded-index.ts";
import { startReferenceApi } from "../support/upstream/reference-api.ts";

interface RecordedResponse {
  readonly request: string;
  readonly body: Record<string, unknown>;
}

/** The responses of the reference node at the end of the recorded network. */
const responses: RecordedResponse[] = await (async () => {
  const json = JSON.parse(Buffer.from(await recorded("responses.json")).toString("utf8"));
  return Array.isArray(json) ? json : json.responses;
})();

const answer = (request: string) => responses.find((one) => one.request === `GET /v1/${request}`)?.body;
/** The followed node has no later blocks of the data shards. */
const LAST_BLOCK = 269;
const KEYS = ["v21-5000", "v21-5000-fid", "v21-5000-parked"];
const BUSY = "660ba0230bbdbe271db34cad12a19c0a09c33df9e9d2753a23edb79079d0466b";

describe("an index that followed the recorded devnet of engine V21", () => {
  let node: Awaited<ReturnType<typeof startReferenceApi>>;

  beforeAll(async () => {
    node = await startReferenceApi();
  });
  afterAll(() => node[Symbol.asyncDispose]());

  test.each(KEYS)("check 6: the owner of %s is the one that the reference node names", (key) => {
    const channel = findRegistrationByKey(node.db, key);
    expect({
      fid: channel && fidOfOwner(node.db, channel.ownerAddress),
      ownerAddress: channel && `0x${channel.ownerAddress.toHex()}`,
      expiry: channel?.expiry,
    }).toEqual(answer(`channelOwner?channel_key=${key}`) as never);
  });

  test("settings, members, pin, hidden casts and followers are those of the reference node", () => {
    const { db } = node;
    const channelId = Uint8Array.fromHex(BUSY);
    const named = `channelId=0x${BUSY}`;
    expect(settingsOf(db, channelId)).toMatchObject({ name: "V21 renamed", description: undefined });
    const stateOf = (fid: number) =>
      findSlot(db, { channelId, kind: ChannelSlotKind.Member, target: memberTarget(fid) })?.state;
    expect(answer(`channelMembers?${named}`)?.members).toHaveLength(2);
    expect([stateOf(5006), stateOf(5008), stateOf(5000)]).toEqual([
      MemberState.Removed,
      MemberState.Banned,
      undefined,
    ]);
    const { pin } = answer(`channelPin?${named}`) as { pin: { castHash: string; authorFid: number } };
    const pinned = findSlot(db, { channelId, kind: ChannelSlotKind.Pin, target: new Uint8Array() });
    expect([`0x${pinned?.detail?.toHex()}`, pinned?.authorFid]).toEqual([pin.castHash, pin.authorFid]);
    const [hidden] = (answer(`channelModerations?${named}`) as { moderations: { castHash: string }[] })
      .moderations;
    const target = Uint8Array.fromHex(hidden?.castHash.slice(2) ?? "");
    expect(findSlot(db, { channelId, kind: ChannelSlotKind.Moderation, target })?.state).toBe(SlotState.On);
    expect(countsOfChannel(db, channelId)).toMatchObject({
      members: 0,
      moderators: 0,
      memberSlots: 2,
      moderationSlots: 1,
      followers: answer(`channelFollowerCount?${named}`)?.count as number,
    });
  });

  test.each([1, 2])(
    "check 22: hub events of shard %i about channels have the ids of the reference node",
    async (shard) => {
      const isOfChannels = ({ type, body }: Pick<HubEvent, "type" | "body">) => {
        if (type === HubEventType.HUB_EVENT_TYPE_CHANNEL_OWNER_CHANGE_HINT) return true;
        if (body?.$case === "mergeOnChainEventBody")
          return body.value.onChainEvent?.type === OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER;
        const data = body?.$case === "mergeMessageBody" ? body.value.message?.dataBytes : undefined;
        return data !== undefined && isChannelMessage(MessageData.decode(data));
      };
      const sent = new FrameDecoder(0)
        .push(await recorded(`hub-events-of-shard-${shard}.bin`))
        .map(({ payload }) => HubEvent.decode(payload))
        .filter((event) => isOfChannels(event) && blockOfEvent(event.id) <= LAST_BLOCK)
        .map(({ id, type }) => `${id} ${nameOf(HUB_EVENT_TYPES, type)}`);
      const served: string[] = [];
      for (let from = 0; ; ) {
        const path = `/v1/events?from_event_id=${from}&shard_index=${shard}`;
        const page = (await (await fetch(`${node.url}${path}`)).json()) as {
          events: readonly { id: number; type: string }[];
          nextPageEventId: number;
        };
        served.push(...page.events.map(({ id, type }) => `${id} ${type}`));
        if (page.events.length === 0 || page.nextPageEventId === from) break;
        from = page.nextPageEventId;
      }
      expect(sent.length).toBeGreaterThan(shard === 1 ? 10 : 5);
      expect(sent.filter((one) => !served.includes(one))).toEqual([]);
    },
  );

  test("check 5: every registration is stored once", () => {
    const events = node.db.sqlite.query("SELECT count(*) AS n FROM on_chain_events WHERE type = 6").get();
    expect(events).toEqual({ n: 5 });
  });

  test("check 2: each verification is one row of its user", () => {
    const rows = node.db.sqlite
      .query<{ fid: number; n: number }, []>(
        "SELECT fid, count(*) AS n FROM messages WHERE store = 5 AND kind = 0 GROUP BY fid",
      )
      .all();
    for (const { fid, n } of rows) {
      const listed = answer(`verificationsByFid?fid=${fid}`) as { messages: unknown[] } | undefined;
      if (listed) expect(n).toBe(listed.messages.length);
    }
    expect(rows.length).toBeGreaterThan(0);
  });

  test("nothing is unknown, and nothing is left to be read", () => {
    expect(node.db.sqlite.query("SELECT * FROM unknown_kinds").all()).toEqual([]);
    expect(channelHistoryOf(node.db).followedFrom).toBe(1);
    expect(channelsActiveAt(node.db)).toBe(0);
  });
});

/** What an index knows of channels, without the blocks that it knows it from. */
function channelRows({ sqlite }: IndexDatabase): unknown {
  const rows = (table: string) => sqlite.query(`SELECT * FROM ${table}`).values();
  return ["channels", "channel_slots", "channel_counts", "owner_claims"].map(rows);
}

const liveVerifications = ({ sqlite }: IndexDatabase) =>
  sqlite.query("SELECT fid, address FROM verifications ORDER BY fid, address").values();
const liveClaims = ({ sqlite }: IndexDatabase) =>
  sqlite.query("SELECT fid, address FROM owner_claims WHERE is_add = 1 ORDER BY fid, address").values();

test("check 1: verifications and channels are there with shard 0, however late the data shards repeat them", async () => {
  // Before anything of shard 0 is repeated.
  using upstream = await startRecordedUpstream(20);
  await using index = followRecorded(upstream);
  await index.caughtUp();
  expect(liveClaims(index.db).length).toBeGreaterThan(10);
  expect(liveVerifications(index.db)).toEqual(liveClaims(index.db));
  expect(findRegistrationByKey(index.db, "v21-5000")?.expiry).toBe(1_890_030_910);
});

test("check 2: what the data shards repeat and prune elsewhere changes no verification", async () => {
  using late = await startRecordedUpstream(20);
  using whole = await startRecordedUpstream(269);
  await using before = followRecorded(late);
  await using after = followRecorded(whole);
  await Promise.all([before.caughtUp(), after.caughtUp()]);
  expect(liveVerifications(after.db)).toEqual(liveVerifications(before.db));
  expect(channelRows(after.db)).toMatchObject(withoutFollowers(channelRows(before.db)));
});

describe("the events of the recorded network", () => {
  /** When its last blocks were made. */
  const THEN = 1_795_422_900;

  async function eventsAt(nowSecs: number) {
    using upstream = await startRecordedUpstream(269);
    await using index = followRecorded(upstream, { nowSecs });
    await index.caughtUp();
    return eventsAfter(index.db, 0, 100_000).filter(({ kind }) => isChannelEvent(kind));
  }

  test("check 31: each change of a channel is one event, of the block of shard 0 that decided it", async () => {
    const events = await eventsAt(THEN);
    const ids = events.map(({ eventId }) => eventId.toHex());
    expect(ids.length).toBeGreaterThan(5);
    expect(new Set(ids).size).toBe(ids.length);
    const ofShards = (isFollow: boolean) =>
      new Set(
        events
          .filter(({ kind }) => kind.startsWith("channel.follow.") === isFollow)
          .map(({ block }) => block?.shard === 0),
      );
    expect(ofShards(false)).toEqual(new Set([true]));
    expect(ofShards(true)).toEqual(new Set([false]));
    const kinds = new Set(events.map(({ kind }) => kind));
    for (const kind of ["channel.created", "channel.updated", "channel.pinned", "cast.moderated"] as const)
      expect(kinds).toContain(kind);
    // Another node gives them the same ids.
    expect((await eventsAt(THEN)).map(({ eventId }) => eventId.toHex()).sort()).toEqual(ids.sort());
  });

  test("check 31: history has none", async () => {
    expect(await eventsAt(THEN + 86_400)).toEqual([]);
  });
});

/** The data shards have the follows. */
function withoutFollowers(rows: unknown): object {
  const [channels, slots, , claims] = rows as unknown[];
  return [channels, slots, expect.anything(), claims];
}

/** What is served of channels: without the messages, authors and times that a state does not have. */
function servedChannels({ sqlite }: IndexDatabase): unknown {
  return [
    "SELECT channel_id, id, key, name_key, owner_address, expiry, registered_at FROM channels ORDER BY 1",
    "SELECT channel_id, kind, target, target_fid, state FROM channel_slots WHERE kind != 18 AND (kind != 20 OR state = 1) ORDER BY 1, 2, 3",
    "SELECT * FROM channel_counts WHERE members + moderators + member_slots + moderation_slots + followers > 0 ORDER BY 1",
    `SELECT key, (SELECT o.fid FROM owner_claims o WHERE o.address = c.owner_address AND o.is_add = 1
       ORDER BY timestamp DESC, hash DESC LIMIT 1) FROM channels c ORDER BY 1`,
  ].map((sql) => sqlite.query(sql).values());
}

/** Lets the history be read again, as after a gap, with what the network has not: another owner, a member, a hidden cast. */
function forget(db: IndexDatabase): void {
  const parked = findRegistrationByKey(db, "v21-5000-parked");
  if (!parked) throw new Error("no parked channel was recorded");
  const { channelId, ownerAddress: address } = parked;
  const stranger = { fid: 7, address, isAdd: true, timestamp: 2 ** 31, hash: new Uint8Array(20), seqnum: 2 };
  const member = { channelId, kind: ChannelSlotKind.Member, targetFid: 7, detail: null };
  const hidden = { channelId, kind: ChannelSlotKind.Moderation, targetFid: 0, detail: null };
  db.transaction(() => {
    putOwnerClaim(db, stranger);
    for (const slot of [
      { ...member, target: memberTarget(7), state: MemberState.Moderator },
      { ...hidden, target: new Uint8Array(20), state: SlotState.On },
    ])
      putSlot(db, { slot, authorFid: 7, timestamp: 5, seqnum: 2, message: null });
    forgetDecisions(db);
  });
}

describe("checks 24 and 27: an index whose channels are not those of the network", () => {
  async function followedToEnd(db: IndexDatabase, isListed = false) {
    using upstream = await startRecordedUpstream(269, { isListed });
    await using index = followRecorded(upstream, { db });
    await index.caughtUp();
    await index.until(() => channelHistoryOf(db).isDone);
  }

  test("reads what a program without channels dropped from the blocks of shard 0, and drops what they do not have", async () => {
    using db = openIndexInMemory();
    await followedToEnd(db);
    const expected = channelRows(db) as unknown[][];
    for (const change of ["empty", "forged"]) {
      if (change === "forged") forget(db);
      else {
        for (const table of ["channels", "channel_slots", "owner_claims"])
          db.sqlite.exec(`DELETE FROM ${table}`);
        db.sqlite.exec(
          "UPDATE channel_counts SET members = 0, moderators = 0, member_slots = 0, moderation_slots = 0",
        );
        db.sqlite.exec(
          "DELETE FROM positions WHERE key LIKE 'channels followed%' OR key LIKE 'channels history%'",
        );
      }
      await followedToEnd(db, true);
      const [channels, slots, counts, claims] = channelRows(db) as unknown[][];
      expect([channels, slots, claims]).toEqual(expected.filter((_, at) => at !== 2));
      expect(counts).toEqual(expect.arrayContaining(expected[2] ?? []));
    }
  });

  test("continues after a stop with the blocks that it has not read yet", async () => {
    using db = openIndexInMemory();
    await followedToEnd(db);
    const [channels, slots, , claims] = channelRows(db) as unknown[][];
    forget(db);
    {
      using upstream = await startRecordedUpstream(269, { isListed: true });
      await using index = followRecorded(upstream, { db });
      await index.until(() => channelHistoryOf(db).next !== undefined);
    }
    expect(channelHistoryOf(db).next).toBeGreaterThan(1);
    await followedToEnd(db, true);
    const after = channelRows(db) as unknown[][];
    expect([after[0], after[1], after[3]]).toEqual([channels, slots, claims]);
  });

  test("reads the state of each channel once the blocks of shard 0 are deleted, and drops what is not in it", async () => {
    using db = openIndexInMemory();
    using whole = openIndexInMemory();
    await followedToEnd(db);
    await followedToEnd(whole);
    const expected = servedChannels(db);
    forget(db);
    await using hub = await startTestHub(whole);
    const channels = new Client(hub.address, credentials.createInsecure());
    using _ = { [Symbol.dispose]: () => channels.close() };
    using pruned = await startRecordedUpstream(269, { firstBlock: 200, isListed: true, channels });
    await using index = followRecorded(pruned, { db });
    await index.until(() => channelHistoryOf(db).isDone);
    expect(servedChannels(db)).toEqual(expected);
    // States have no messages.
    const signed = "SELECT count(*) AS n FROM channel_slots WHERE message IS NOT NULL AND kind = 19";
    expect(db.sqlite.query(signed).get()).toEqual({ n: 0 });
  });
});
