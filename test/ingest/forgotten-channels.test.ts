import { expect, test } from "bun:test";
import { forgetDecisions } from "../../src/db/index/channels/history.ts";
import { findRegistration, NO_TARGET, renameChannel } from "../../src/db/index/channels/registrations.ts";
import { putSlot } from "../../src/db/index/channels/slots.ts";
import { channelIdOfKey } from "../../src/protocol/channels/registrations.ts";
import { ChannelSlotKind, SlotState } from "../../src/protocol/channels/slots.ts";
import { ChannelUpdateBody } from "../../src/protocol/wire/generated/message.ts";
import { activateChannels, registers } from "../support/channel-records.ts";
import { DEFAULT_NOW_SECS } from "../support/messages.ts";
import { startTestNode } from "../support/node.ts";

test("a channel is found by its key again once the upstream does not have the settings that named it", () => {
  using node = startTestNode();
  const { db } = node;
  activateChannels(db);
  const channelId = channelIdOfKey("books");
  const event = registers("books", new Uint8Array(20).fill(1), { blockNumber: 1 }).bytes;
  const decision = { seqnum: 1, decidedAt: DEFAULT_NOW_SECS };
  node.relay([{ kind: "registration", event, decision, happenedAt: 0 }]);
  const nameKeys = () => db.sqlite.query("SELECT name_key FROM channels").values().flat();
  expect(nameKeys()).toEqual(["books"]);
  const detail = ChannelUpdateBody.encode({ channelId, name: "Forged" }).finish();
  const kind = ChannelSlotKind.Settings;
  const slot = { channelId, kind, target: NO_TARGET, targetFid: 0, state: SlotState.On, detail };
  db.transaction(() => {
    putSlot(db, { slot, authorFid: 7, timestamp: 5, seqnum: 2, message: null });
    renameChannel(db, channelId);
    forgetDecisions(db);
  });
  expect(nameKeys()).toEqual(["forged"]);
  node.relay([
    { kind: "registration", event, decision, happenedAt: 0 },
    { kind: "channelsComplete", happenedAt: 0 },
  ]);
  expect(findRegistration(db, channelId)?.key).toBe("books");
  expect(nameKeys()).toEqual(["books"]);
});
