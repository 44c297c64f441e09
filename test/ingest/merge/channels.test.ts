import { expect, test } from "bun:test";
import { readInvalidations } from "../../../src/db/index/cache-invalidations.ts";
import { channelsActiveAt, settleChannelsActive } from "../../../src/db/index/channels/follows.ts";
import { findRegistration } from "../../../src/db/index/channels/registrations.ts";
import { markDemo } from "../../../src/db/index/identity.ts";
import type { EncodedRecord } from "../../../src/ingest/record.ts";
import type { RelayedOp } from "../../../src/ingest/relayed-op.ts";
import { channelIdOfKey } from "../../../src/protocol/channels/registrations.ts";
import { toUnixSecs } from "../../../src/protocol/time.ts";
import {
  Action,
  activateChannels,
  acts,
  disownsWallet,
  ownsWallet,
  pins,
  registers,
  updates,
  walletOf,
} from "../../support/channel-records.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP } from "../../support/messages.ts";
import { accountRecords, startTestNode, type TestNode } from "../../support/node.ts";

const OWNER = 1;
const KEYS = ["books", "poems"];
const REFUSED = "bad_request.validation_failure";

/** A node on which fid 1 owns two channels. */
function startNode(activate: (node: TestNode) => void = ({ db }) => activateChannels(db)): TestNode {
  const node = startTestNode();
  activate(node);
  node.merge([
    ...[OWNER, 2].flatMap((fid) => accountRecords(fid)),
    ownsWallet(OWNER, DEFAULT_TIMESTAMP - 100),
    ...KEYS.map((key) => registers(key, walletOf(OWNER))),
  ]);
  return node;
}

test("a channel has the name of its settings at once", () => {
  using node = startNode();
  const nameKeys = () => node.db.sqlite.query("SELECT name_key FROM channels ORDER BY id").values().flat();
  expect(node.ingest(updates(OWNER, "books", { name: "Novels" }))).toBe("ok");
  expect(nameKeys()).toEqual(["novels", "poems"]);
});

test("a node that decides by itself refuses messages of channels until they are part of the protocol", () => {
  const from = DEFAULT_NOW_SECS + 10;
  using node = startNode(({ db }) => {
    markDemo(db);
    db.transaction(() => settleChannelsActive(db, { scheduledAt: 0 }));
  });
  node.db.transaction(() => settleChannelsActive(node.db, { scheduledAt: from }));
  const pin = pins(OWNER, "books", new Uint8Array(20).fill(1));
  node.clock.advanceSecs(9);
  expect(node.ingest(pin)).toBe(REFUSED);
  node.clock.advanceSecs(1);
  expect(node.ingest(pin)).toBe("ok");
});

test("readers read a channel again whose slots, owner or registration changed", () => {
  using node = startNode();
  let seq = readInvalidations(node.db, 0)?.seq ?? 0;
  const listed = () => {
    const found = readInvalidations(node.db, seq);
    seq = found?.seq ?? seq;
    return found?.everything ? "everything" : [...(found?.channelIds ?? [])].sort();
  };
  node.ingest(acts(OWNER, "poems", Action.addMember, 2));
  expect(listed()).toEqual(["poems"]);
  const [channelId, address] = [channelIdOfKey("books"), walletOf(OWNER)];
  const registration = findRegistration(node.db, channelId);
  if (!registration) throw new Error("the channel is registered");
  const { expiry, position: at } = registration;
  const channel = { channelId, expiry, listed: at };
  // The address owns the other channel as well.
  node.relay([{ kind: "ownerState", fid: 2, address, channel, happenedAt: 0 }]);
  expect(listed()).toEqual(KEYS);
  node.relay([decides(disownsWallet(OWNER, DEFAULT_TIMESTAMP - 50), 9)]);
  expect(listed()).toEqual(KEYS);
  node.relay([{ kind: "channelsComplete", happenedAt: 0 }]);
  expect(listed()).toBe("everything");
});

const decides = ({ bytes }: EncodedRecord, seqnum: number, decidedAt = DEFAULT_NOW_SECS): RelayedOp => ({
  kind: "claim",
  message: bytes,
  decision: { seqnum, decidedAt },
  isForced: true,
  happenedAt: decidedAt,
});

test("the first decision about a verification proves since when channels are part of the protocol", () => {
  using node = startTestNode();
  const decidedAt = DEFAULT_NOW_SECS - 77;
  node.relay([decides(ownsWallet(OWNER), 1, decidedAt)]);
  expect(channelsActiveAt(node.db)).toBe(decidedAt);
});

test("a verification that shard 0 decided before the one that is live does not replace it when it is repeated", () => {
  using node = startTestNode();
  const [early, late] = [-20, -10].map((secs) => ownsWallet(OWNER, DEFAULT_TIMESTAMP + secs));
  if (!early || !late) throw new Error("two verifications");
  node.relay([decides(early, 1), decides(late, 2)]);
  node.relay([decides(early, 1)]);
  const times = node.db.sqlite.query("SELECT timestamp FROM verifications").values().flat();
  expect(times).toEqual([toUnixSecs(DEFAULT_TIMESTAMP - 10)]);
});
