import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { channelsActiveAt, settleChannelsActive } from "../../src/db/index/channels/follows.ts";
import { fidOfOwner } from "../../src/db/index/channels/owner-claims.ts";
import { countsOfChannel } from "../../src/db/index/channels/slots.ts";
import { markDemo } from "../../src/db/index/identity.ts";
import type { EncodedRecord } from "../../src/ingest/record.ts";
import type { RelayedOp } from "../../src/ingest/relayed-op.ts";
import { channelIdOfKey } from "../../src/protocol/channels/registrations.ts";
import { slotOf } from "../../src/protocol/message/merge-rules.ts";
import { decodeMessage } from "../../src/protocol/message/signed-message.ts";
import { toUnixSecs } from "../../src/protocol/time.ts";
import { UserDataType } from "../../src/protocol/wire/generated/message.ts";
import {
  activateChannels,
  disownsWallet,
  follows,
  ownsWallet,
  pins,
  registers,
  walletOf,
} from "../support/channel-records.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP } from "../support/messages.ts";
import { accountRecords, startTestNode, type TestNode } from "../support/node.ts";
import { takeEvents } from "../support/outbox.ts";
import { userData } from "../support/records.ts";

/** What the network says of verifications when engine V21 moves them to shard 0, as a follower of it gets it. */

const FID = 1;
const KEY = "books";
const NOW = DEFAULT_TIMESTAMP;
const AT = DEFAULT_NOW_SECS;

const messageIn = ({ bytes }: EncodedRecord) => {
  const decoded = decodeMessage(bytes);
  if (!decoded.ok) throw new Error("not a message");
  return decoded.value;
};
function refOf(record: EncodedRecord) {
  const message = messageIn(record);
  const { store, slot } = slotOf(message);
  return { fid: message.data.fid, store, slot, hash: message.hash };
}
/** As shard 0 decides it. */
const decides = (record: EncodedRecord, seqnum: number): RelayedOp => ({
  kind: "claim",
  message: record.bytes,
  decision: { seqnum, decidedAt: AT },
  isForced: true,
  happenedAt: AT,
});
/** As the author's shard repeats it later, or merged it before. */
const merges = (record: EncodedRecord, deleted: readonly EncodedRecord[] = []): RelayedOp => ({
  kind: "merge",
  message: record.bytes,
  deleted: deleted.map(refOf),
  happenedAt: AT,
});

function startFollower(): TestNode {
  const node = startTestNode();
  activateChannels(node.db);
  node.ingestAll([...accountRecords(FID), ...accountRecords(2), registers(KEY, walletOf(FID))]);
  takeEvents(node.db);
  return node;
}

const verified = ({ db }: TestNode) =>
  db.sqlite
    .query<{ address: Uint8Array; timestamp: number }, []>("SELECT address, timestamp FROM verifications")
    .all()
    .map(({ timestamp }) => timestamp);
const kindsOf = ({ db }: TestNode) => takeEvents(db).map(({ kind }) => kind);
const owner = ({ db }: TestNode) => fidOfOwner(db, walletOf(FID));

describe("a verification over the boundary of V21", () => {
  test("check 4: one that was live before and is decided again on shard 0 stays one row without a second event, and owns the channel", () => {
    using node = startFollower();
    const before = ownsWallet(FID, NOW - 100);
    node.relay([merges(before)]);
    expect(kindsOf(node)).toEqual(["user.updated"]);
    expect(owner(node)).toBe(0);
    node.relay([decides(before, 10)]);
    expect(kindsOf(node)).toEqual(["channel.updated"]);
    node.relay([merges(before)]);
    node.relay([decides(before, 10)]);
    expect(kindsOf(node)).toEqual([]);
    expect(verified(node)).toEqual([toUnixSecs(NOW - 100)]);
    expect(owner(node)).toBe(FID);
  });

  test("a new one arrives with shard 0; the late copy of the author's shard is not a second event", () => {
    using node = startFollower();
    const old = ownsWallet(FID, NOW - 100);
    const renewed = ownsWallet(FID, NOW - 10);
    node.relay([merges(old)]);
    takeEvents(node.db);
    node.relay([decides(renewed, 11)]);
    expect(verified(node)).toEqual([toUnixSecs(NOW - 10)]);
    expect(kindsOf(node)).toEqual(["channel.updated"]);
    node.relay([merges(renewed, [old])]);
    expect(kindsOf(node)).toEqual([]);
    expect(verified(node)).toEqual([toUnixSecs(NOW - 10)]);
  });

  test("check 2: an older one that shard 0 decides later replaces a newer one", () => {
    using node = startFollower();
    node.relay([decides(ownsWallet(FID, NOW - 10), 20), decides(ownsWallet(FID, NOW - 500), 21)]);
    expect(verified(node)).toEqual([toUnixSecs(NOW - 500)]);
  });

  test("check 2: the late copy of what shard 0 decided before does not come back, not even for a moment, and takes nothing away", () => {
    using node = startFollower();
    const early = ownsWallet(FID, NOW - 500);
    const newer = ownsWallet(FID, NOW - 10);
    const signedForLater = ownsWallet(FID, NOW + 60);
    const removal = disownsWallet(FID, NOW - 5);
    node.relay([merges(signedForLater)]);
    node.relay([decides(newer, 20), decides(early, 21)]);
    expect(verified(node)).toEqual([toUnixSecs(NOW - 500)]);
    // The author's shard is still before the boundary, then it repeats what shard 0 decided.
    for (const late of [
      merges(ownsWallet(FID, NOW + 70), [early]),
      merges(newer, [signedForLater]),
      merges(early, [newer]),
    ]) {
      node.relay([late]);
      expect(verified(node)).toEqual([toUnixSecs(NOW - 500)]);
    }
    node.relay([decides(removal, 22), merges(early, [newer])]);
    expect(verified(node)).toEqual([]);
    node.relay([merges(removal, [early])]);
    expect(verified(node)).toEqual([]);
  });

  test("a decision that is repeated after a later one changes nothing", () => {
    using node = startFollower();
    const [first, second] = [ownsWallet(FID, NOW - 100), ownsWallet(FID, NOW - 10)];
    node.relay([decides(first, 20), decides(second, 21), decides(first, 20)]);
    expect(verified(node)).toEqual([toUnixSecs(NOW - 10)]);
  });

  test("of the decisions that are read as history, or leave the row to the merge, only one about what history showed last takes its row", () => {
    const [first, second] = [ownsWallet(FID, NOW - 100), ownsWallet(FID, NOW - 10)];
    const unforced = (record: EncodedRecord, seqnum: number, happenedAt: number): RelayedOp => ({
      ...(decides(record, seqnum) as Extract<RelayedOp, { kind: "claim" }>),
      isForced: false,
      happenedAt,
    });
    const rowAfter = (...ops: readonly RelayedOp[]) => {
      using node = startFollower();
      node.relay(ops);
      return verified(node);
    };
    const [rowOfFirst, rowOfSecond] = [[toUnixSecs(NOW - 100)], [toUnixSecs(NOW - 10)]];
    expect(rowAfter(decides(first, 20), unforced(second, 21, 0))).toEqual(rowOfSecond);
    // The author's shard has repeated a later decision already.
    expect(rowAfter(merges(second), unforced(first, 20, 0))).toEqual(rowOfSecond);
    expect(rowAfter(decides(first, 20), unforced(second, 21, AT))).toEqual(rowOfFirst);
  });

  test("check 3: its removal takes the primary address with it, which the author's shard revokes", () => {
    using node = startFollower();
    const verification = ownsWallet(FID, NOW - 100);
    const address = `0x${Buffer.from(walletOf(FID)).toString("hex")}`;
    const primary = userData(FID, UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM, address, NOW - 50);
    node.relay([decides(verification, 30), merges(verification), merges(primary)]);
    const primaries = () => node.db.sqlite.query("SELECT count(*) AS n FROM user_data").get();
    expect(primaries()).toEqual({ n: 1 });
    const removal = disownsWallet(FID, NOW - 20);
    node.relay([decides(removal, 31)]);
    node.relay([merges(removal, [verification]), { kind: "remove", ref: refOf(primary), happenedAt: AT }]);
    expect(primaries()).toEqual({ n: 0 });
    expect({ verified: verified(node), owner: owner(node) }).toEqual({ verified: [], owner: 0 });
  });

  test("whatever the lag of the author's shard, the end is that of shard 0, and no change is an event twice", () => {
    const change = fc.record({ isAdd: fc.boolean(), secsAgo: fc.integer({ min: 1, max: 60 }) });
    fc.assert(
      fc.property(
        fc.array(change, { minLength: 1, maxLength: 8 }),
        fc.array(fc.nat(3), { maxLength: 12 }),
        (changes, lags) => {
          using node = startFollower();
          const records = changes.map(({ isAdd, secsAgo }) =>
            (isAdd ? ownsWallet : disownsWallet)(FID, NOW - secsAgo),
          );
          let copied = 0;
          const copy = () => {
            const record = records[copied];
            if (record)
              node.relay([merges(record, copied > 0 ? [records[copied - 1] as EncodedRecord] : [])]);
            copied += 1;
          };
          for (const [at, record] of records.entries()) {
            node.relay([decides(record, 100 + at)]);
            for (let more = lags[at] ?? 0; more > 0 && copied <= at; more--) copy();
          }
          while (copied < records.length) copy();
          const last = changes.at(-1);
          expect(verified(node)).toEqual(last?.isAdd ? [toUnixSecs(NOW - last.secsAgo)] : []);
          expect(owner(node)).toBe(last?.isAdd ? FID : 0);
        },
      ),
      { numRuns: 60 },
    );
  });
});

test("check 9: on a node that decides by itself, a verification of before V21 is the user's and makes no owner", () => {
  using node = startTestNode();
  markDemo(node.db);
  node.db.transaction(() => settleChannelsActive(node.db, { seenAt: toUnixSecs(NOW - 50) }));
  node.ingestAll([...accountRecords(FID), registers(KEY, walletOf(FID))]);
  expect(node.ingest(ownsWallet(FID, NOW - 60))).toBe("ok");
  expect({ verified: verified(node).length, owner: owner(node) }).toEqual({ verified: 1, owner: 0 });
  expect(node.ingest(ownsWallet(FID, NOW - 40))).toBe("ok");
  expect({ verified: verified(node).length, owner: owner(node) }).toEqual({ verified: 1, owner: FID });
});

test("check 26: the first decision about a channel proves since when V21 is active, and no later one moves it", () => {
  using node = startTestNode();
  const decided = (seqnum: number, decidedAt: number): RelayedOp => ({
    kind: "channel",
    message: pins(FID, KEY, new Uint8Array(20)).bytes,
    decision: { seqnum, decidedAt },
    happenedAt: decidedAt,
  });
  expect(channelsActiveAt(node.db)).toBeUndefined();
  node.relay([decided(5, AT - 100)]);
  expect(channelsActiveAt(node.db)).toBe(AT - 100);
  node.relay([decided(6, AT), decided(4, AT - 200)]);
  expect(channelsActiveAt(node.db)).toBe(AT - 200);
});

test("check 33: likes of a URI that were stored before the network had a registrar are follows once it has one", () => {
  using node = startTestNode();
  node.db.transaction(() => settleChannelsActive(node.db, { seenAt: 0 }));
  node.ingestAll([...accountRecords(FID), ...accountRecords(2), follows(FID, KEY), follows(2, KEY)]);
  const followers = () => countsOfChannel(node.db, channelIdOfKey(KEY)).followers;
  expect(followers()).toBe(0);
  markDemo(node.db);
  node.db.transaction(() => settleChannelsActive(node.db, {}));
  expect(followers()).toBe(2);
});
