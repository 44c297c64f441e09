import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { channelsActiveAt } from "../../src/db/index/channels/follows.ts";
import { channelHistoryOf } from "../../src/db/index/channels/history.ts";
import { fidOfOwner } from "../../src/db/index/channels/owner-claims.ts";
import { findRegistrationByKey, settingsOf } from "../../src/db/index/channels/registrations.ts";
import { countsOfChannel, findSlot } from "../../src/db/index/channels/slots.ts";
import { ChannelSlotKind, MemberState, memberTarget, SlotState } from "../../src/protocol/channels/slots.ts";
import { recorded } from "../support/upstream/recorded.ts";
import { startReferenceApi } from "../support/upstream/reference-api.ts";

interface RecordedResponse {
  readonly request: string;
  readonly body: Record<string, unknown>;
}

/** What the reference node answered at the end of the recorded network. */
const responses: RecordedResponse[] = await (async () => {
  const json = JSON.parse(Buffer.from(await recorded("responses.json")).toString("utf8"));
  return Array.isArray(json) ? json : json.responses;
})();

const answer = (request: string) => responses.find((one) => one.request === `GET /v1/${request}`)?.body;
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
