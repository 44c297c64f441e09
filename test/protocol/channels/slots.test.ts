import { expect, test } from "bun:test";
import {
  ChannelSlotKind,
  channelSlotOf,
  memberTarget,
  SlotState,
} from "../../../src/protocol/channels/slots.ts";
import { ChannelModerateAction } from "../../../src/protocol/wire/generated/message.ts";

const channelId = new Uint8Array(32).fill(7);
const castHash = new Uint8Array(20).fill(9);

test("a channel has a pin until a message without a cast removes it", () => {
  const pin = (castHash: Uint8Array) =>
    channelSlotOf({ body: { $case: "channelPinBody", value: { channelId, castHash } } });
  const slot = { channelId, kind: ChannelSlotKind.Pin, target: new Uint8Array(), targetFid: 0 };
  expect(pin(castHash)).toEqual({ ...slot, state: SlotState.On, detail: castHash });
  expect(pin(new Uint8Array())).toEqual({ ...slot, state: SlotState.Off, detail: null });
});

test("a cast is hidden until it is unhidden", () => {
  const slot = {
    channelId,
    kind: ChannelSlotKind.Moderation,
    target: castHash,
    targetFid: 0,
    detail: null,
  };
  for (const [action, state] of [
    [ChannelModerateAction.CHANNEL_MODERATE_ACTION_HIDE, SlotState.On],
    [ChannelModerateAction.CHANNEL_MODERATE_ACTION_UNHIDE, SlotState.Off],
  ] as const)
    expect(
      channelSlotOf({ body: { $case: "channelModerateBody", value: { channelId, castHash, action } } }),
    ).toEqual({ ...slot, state });
});

test("the targets of members' slots differ and sort by fid", () => {
  const fids = [0, 1, 255, 256, 65_536, 2 ** 32 - 1, 2 ** 40];
  const sorted = fids.map(memberTarget).sort(Buffer.compare);
  expect(sorted.map((target) => Number(Buffer.from(target).readBigUInt64BE()))).toEqual(fids);
});
