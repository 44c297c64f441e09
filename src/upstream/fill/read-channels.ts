import type { RelayedOp } from "../../ingest/relayed-op.ts";
import { type ChannelSlot, ChannelSlotKind, memberTarget, SlotState } from "../../protocol/channels/slots.ts";
import { ChannelModerateAction, ChannelUpdateBody } from "../../protocol/wire/generated/message.ts";
import type { UpstreamClient } from "../calls/client.ts";
import { readPages } from "../calls/pages.ts";

const NO_TARGET = new Uint8Array();

/** Reads the present state of a channel. It has no signed messages, and no times of its slots. */
export async function readChannelState(
  client: UpstreamClient,
  { channelId, key }: { readonly channelId: Uint8Array; readonly key: string },
): Promise<RelayedOp[]> {
  const owner = await client.channels.owner(key);
  // A registration of another's id, or one that broke a rule: there is no such channel.
  if (!owner) return [];
  const slots: { slot: ChannelSlot; authorFid: number }[] = [];
  const at = (kind: ChannelSlotKind) => ({ channelId, kind, target: NO_TARGET, targetFid: 0, detail: null });
  const settings = await client.channels.settings(channelId);
  const detail = ChannelUpdateBody.encode({ channelId, ...settings }).finish();
  slots.push({ slot: { ...at(ChannelSlotKind.Settings), state: SlotState.On, detail }, authorFid: 0 });
  const pin = await client.channels.pin(channelId);
  if (pin)
    slots.push({
      slot: { ...at(ChannelSlotKind.Pin), state: SlotState.On, detail: pin.castHash.slice() },
      authorFid: pin.authorFid,
    });
  for await (const page of readPages((token) => client.channels.members(channelId, token)))
    for (const { fid, state } of page)
      slots.push({
        slot: { ...at(ChannelSlotKind.Member), target: memberTarget(fid), targetFid: fid, state },
        authorFid: 0,
      });
  for await (const page of readPages((token) => client.channels.moderations(channelId, token)))
    for (const { castHash, action, authorFid } of page) {
      const isHidden = action === ChannelModerateAction.CHANNEL_MODERATE_ACTION_HIDE;
      const state = isHidden ? SlotState.On : SlotState.Off;
      slots.push({ slot: { ...at(ChannelSlotKind.Moderation), target: castHash.slice(), state }, authorFid });
    }
  const ops = slots.map(
    ({ slot, authorFid }): RelayedOp => ({ kind: "channelState", slot, authorFid, happenedAt: 0 }),
  );
  const { fid, ownerAddress } = owner;
  return [...ops, { kind: "ownerState", fid, address: ownerAddress.slice(), happenedAt: 0 }];
}
