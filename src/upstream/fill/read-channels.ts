import type { RelayedOp } from "../../ingest/relayed-op.ts";
import type { ChainPosition } from "../../protocol/channels/registrations.ts";
import {
  type ChannelSlot,
  ChannelSlotKind,
  MAX_MEMBER_SLOTS,
  MAX_MODERATION_SLOTS,
  MemberState,
  memberTarget,
  modesOf,
  SlotState,
} from "../../protocol/channels/slots.ts";
import { ChannelModerateAction, ChannelUpdateBody } from "../../protocol/wire/generated/message.ts";
import type {
  ChannelMetadataResponse,
  ChannelOwnerResponse,
  ChannelPinEntry,
} from "../../protocol/wire/generated/reads.ts";
import type { UpstreamClient } from "../calls/client.ts";
import { type Page, readPages } from "../calls/pages.ts";
import { MalformedError } from "../calls/peer.ts";

const NO_TARGET = new Uint8Array();

/**
 * The caps of slots are only proposed, so a network that raises them up to this factor is still read. A list that does not
 * end is not.
 */
const CAPS_READ = 8;

/** A channel as the upstream reports it. */
export interface ReportedChannel {
  readonly owner: ChannelOwnerResponse;
  /** The settings, with the modes that are in effect. */
  readonly settings: ChannelMetadataResponse;
  /** All slots except the one of the settings. `authorFid` is 0 if the upstream does not report it. */
  readonly slots: readonly { readonly slot: ChannelSlot; readonly authorFid: number }[];
}

/** Identifies a channel. */
export interface ChannelName {
  readonly channelId: Uint8Array;
  readonly key: string;
}

/**
 * Reads the present state of a channel from the upstream, without signed messages and times. Returns undefined for a name
 * that it does not know: a registration of another id, or one that broke a rule.
 *
 * @throws MalformedError for a list longer than any channel's, and for values that no channel can have.
 */
export async function readChannel(
  client: UpstreamClient,
  { channelId, key }: ChannelName,
): Promise<ReportedChannel | undefined> {
  const owner = await client.channels.owner(key);
  if (!owner) return undefined;
  check(owner.ownerAddress.length === ADDRESS_BYTES && owner.fid <= MAX_FID, "an owner");
  const settings = await client.channels.settings(channelId);
  const slots: { slot: ChannelSlot; authorFid: number }[] = [];
  const at = (kind: ChannelSlotKind) => slotAt(channelId, kind);
  const pin = await client.channels.pin(channelId);
  check(!pin || isCastOf(pin), "a pin");
  if (pin)
    slots.push({
      slot: { ...at(ChannelSlotKind.Pin), state: SlotState.On, detail: pin.castHash.slice() },
      authorFid: pin.authorFid,
    });
  const members = readBounded(MAX_MEMBER_SLOTS, (token) => client.channels.members(channelId, token));
  for await (const { fid, state } of members) {
    check(fid > 0 && fid <= MAX_FID && STATES.includes(state), "a member");
    slots.push({
      slot: { ...at(ChannelSlotKind.Member), target: memberTarget(fid), targetFid: fid, state },
      authorFid: 0,
    });
  }
  const moderations = readBounded(MAX_MODERATION_SLOTS, (token) =>
    client.channels.moderations(channelId, token),
  );
  for await (const { castHash, action, authorFid } of moderations) {
    check(isCastOf({ castHash, authorFid }), "a hidden cast");
    const isHidden = action === ChannelModerateAction.CHANNEL_MODERATE_ACTION_HIDE;
    const state = isHidden ? SlotState.On : SlotState.Off;
    slots.push({ slot: { ...at(ChannelSlotKind.Moderation), target: castHash.slice(), state }, authorFid });
  }
  return { owner, settings, slots };
}

const ADDRESS_BYTES = 20;
const CAST_HASH_BYTES = 20;
const MAX_FID = 0xffff_ffff;
const STATES: readonly number[] = Object.values(MemberState).filter((state) => state !== MemberState.None);

function isCastOf({ castHash, authorFid }: ChannelPinEntry): boolean {
  return castHash.length === CAST_HASH_BYTES && authorFid <= MAX_FID;
}

function check(isPossible: boolean, what: string): void {
  if (!isPossible) throw new MalformedError(`reports ${what} of a channel that no channel can have`);
}

const slotAt = (channelId: Uint8Array, kind: ChannelSlotKind) => ({
  channelId,
  kind,
  target: NO_TARGET,
  targetFid: 0,
  detail: null,
});

async function* readBounded<Item>(
  cap: number,
  fetchPage: (token: Uint8Array | undefined) => Promise<Page<Item>>,
): AsyncGenerator<Item> {
  let read = 0;
  let pages = 0;
  for await (const page of readPages(fetchPage)) {
    read += page.length;
    pages += 1;
    if (read > cap * CAPS_READ || pages > cap)
      throw new MalformedError("lists more slots of a channel than there are");
    yield* page;
  }
}

/**
 * Returns the operations that store a channel as the upstream reports it, including that it no longer has settings or a pin.
 *
 * @param listed position of the last event that the upstream lists for the channel.
 */
export function channelStateOps(
  channelId: Uint8Array,
  { owner, settings, slots }: ReportedChannel,
  listed: ChainPosition,
): RelayedOp[] {
  const none = { ...slotAt(channelId, ChannelSlotKind.Pin), state: SlotState.Off };
  const hasPin = slots.some(({ slot }) => slot.kind === ChannelSlotKind.Pin);
  const all = [
    { slot: settingsSlot(channelId, settings), authorFid: 0 },
    ...(hasPin ? [] : [{ slot: none, authorFid: 0 }]),
    ...slots,
  ];
  const { fid, expiry } = owner;
  const address = owner.ownerAddress.slice();
  return [
    ...all.map(
      ({ slot, authorFid }): RelayedOp => ({ kind: "channelState", slot, authorFid, happenedAt: 0 }),
    ),
    { kind: "ownerState", fid, address, channel: { channelId, expiry, listed }, happenedAt: 0 },
  ];
}

/**
 * Returns the slot of the settings. The upstream reports the modes that are in effect, but not whether the owner has chosen
 * them. A default is assumed not to be chosen; otherwise the feed of each channel without settings would lose all casts
 * except its members'.
 */
function settingsSlot(channelId: Uint8Array, settings: ChannelMetadataResponse): ChannelSlot {
  const defaults = modesOf(undefined);
  const { castingMode, membershipMode, ...texts } = settings;
  const detail = ChannelUpdateBody.encode({
    channelId,
    ...texts,
    castingMode: castingMode === defaults.castingMode ? undefined : castingMode,
    membershipMode: membershipMode === defaults.membershipMode ? undefined : membershipMode,
  }).finish();
  return { ...slotAt(channelId, ChannelSlotKind.Settings), state: SlotState.On, detail };
}
