import { channelsActiveAt } from "../../../db/index/channels/follows.ts";
import { isChannelHistoryDue } from "../../../db/index/channels/history.ts";
import { fidOfOwner } from "../../../db/index/channels/owner-claims.ts";
import { registrarOfIndex } from "../../../db/index/channels/registrar.ts";
import {
  findRegistration,
  findRegistrationByKey,
  settingsOf,
} from "../../../db/index/channels/registrations.ts";
import { countsOfChannel, findSlot } from "../../../db/index/channels/slots.ts";
import { statement } from "../../../db/index/statement.ts";
import { err, ok, type Result } from "../../../lib/result.ts";
import { followUriOf } from "../../../protocol/channels/follow-uri.ts";
import {
  CHANNEL_ID_BYTES,
  type ChannelModes,
  ChannelSlotKind,
  MemberState,
  memberTarget,
  modesOf,
  SlotState,
} from "../../../protocol/channels/slots.ts";
import { toFarcasterSecs } from "../../../protocol/time.ts";
import { type ChannelUpdateBody, ReactionType } from "../../../protocol/wire/generated/message.ts";
import type { ReadContext } from "../context.ts";
import { BEING_FILLED, invalidParam, type Refusal, type refuse } from "../refusal.ts";

/** Reads of a single object of a channel. Times of members and follows are in Farcaster seconds, expiry in Unix seconds. */
export interface ChannelReads {
  /** Returns the owner of the channel with a key; fid 0 while no account has verified the address. */
  channelOwner(query: { key: string }): Result<ChannelOwner, Refusal>;
  channelMember(query: ChannelAndFid): Result<ChannelMember, Refusal>;
  channelPin(query: OfChannel): Result<ChannelPin | undefined, Refusal>;
  channelMetadata(query: OfChannel): Result<ChannelMetadata, Refusal>;
  channelFollowerCount(query: OfChannel): Result<number, Refusal>;
  isFollowingChannel(query: ChannelAndFid): Result<number | undefined, Refusal>;
}

export interface OfChannel {
  readonly channelId: Uint8Array;
}

export interface ChannelAndFid extends OfChannel {
  readonly fid: number;
}

export interface ChannelOwner {
  readonly fid: number;
  readonly ownerAddress: Uint8Array;
  readonly expiry: number;
}

export interface ChannelMember {
  readonly state: MemberState;
  /** Undefined for an fid without a state. */
  readonly lastActionTs: number | undefined;
}

export interface ChannelPin {
  readonly castHash: Uint8Array;
  readonly authorFid: number;
}

/** The settings of a channel, with the modes that are in effect. */
export interface ChannelMetadata
  extends Partial<Pick<ChannelUpdateBody, "name" | "description" | "imageUrl" | "header" | "rules">>,
    ChannelModes {}

const CHANNELS_ARE_READ: Refusal = {
  code: "unavailable",
  reason: "the channels of the followed node are still being read",
};
const NOT_REGISTERED: Refusal = { code: "not_found", reason: "channel not registered" };
const MAX_FID = 0xffff_ffff;

/** Returns why the node cannot report on channels yet; undefined if it can. */
export function refusalOfUnread({ db, isFilled }: ReadContext): ReturnType<typeof refuse> | undefined {
  if (!isFilled()) return err(BEING_FILLED);
  return isChannelHistoryDue(db) ? err(CHANNELS_ARE_READ) : undefined;
}

/** Returns why a read of a channel is refused; undefined if it is not. */
export function refusalOfChannel(
  context: ReadContext,
  channelId: Uint8Array,
  needsRegistration: boolean,
): ReturnType<typeof refuse> | undefined {
  const unread = refusalOfUnread(context);
  if (unread) return unread;
  if (channelId.length !== CHANNEL_ID_BYTES)
    return invalidParam(`channel_id must be ${CHANNEL_ID_BYTES} bytes`);
  return needsRegistration && !findRegistration(context.db, channelId) ? err(NOT_REGISTERED) : undefined;
}

/** Returns why a read of channels by an fid is refused; undefined if it is not. */
export function refusalOfFid(context: ReadContext, fid: number): ReturnType<typeof refuse> | undefined {
  const unread = refusalOfUnread(context);
  if (unread) return unread;
  return fid >= 1 && fid <= MAX_FID ? undefined : invalidParam(`fid must be from 1 to ${MAX_FID}`);
}

const followedAt = statement<{ timestamp: number }, [url: string, fid: number, since: number]>(
  "hub.channel-followed-at",
  `SELECT r.timestamp FROM urls u CROSS JOIN reactions r ON r.target_id = u.id
   WHERE u.url = ?1 AND r.fid = ?2 AND r.target_fid = 0 AND r.type = ${ReactionType.REACTION_TYPE_LIKE}
     AND r.timestamp >= ?3`,
);

const NO_TARGET = new Uint8Array();

export function createChannelReads(context: ReadContext): ChannelReads {
  const { db } = context;
  return {
    channelOwner({ key }) {
      const unread = refusalOfUnread(context);
      if (unread) return unread;
      const channel = findRegistrationByKey(db, key);
      if (!channel) return err(NOT_REGISTERED);
      const { ownerAddress, expiry } = channel;
      return ok({ fid: fidOfOwner(db, ownerAddress), ownerAddress, expiry });
    },
    channelMember({ channelId, fid }) {
      const refused = refusalOfChannel(context, channelId, true) ?? refusalOfFid(context, fid);
      if (refused) return refused;
      const slot = findSlot(db, { channelId, kind: ChannelSlotKind.Member, target: memberTarget(fid) });
      const state = (slot?.state ?? MemberState.None) as MemberState;
      return ok({ state, lastActionTs: slot?.timestamp });
    },
    channelPin({ channelId }) {
      const refused = refusalOfChannel(context, channelId, true);
      if (refused) return refused;
      const slot = findSlot(db, { channelId, kind: ChannelSlotKind.Pin, target: NO_TARGET });
      const isPinned = slot?.state === SlotState.On && slot.detail !== null;
      return ok(isPinned ? { castHash: slot.detail ?? NO_TARGET, authorFid: slot.authorFid } : undefined);
    },
    channelMetadata({ channelId }) {
      const refused = refusalOfChannel(context, channelId, true);
      if (refused) return refused;
      const settings = settingsOf(db, channelId);
      return ok({ ...settings, ...modesOf(settings) });
    },
    channelFollowerCount({ channelId }) {
      return refusalOfChannel(context, channelId, false) ?? ok(countsOfChannel(db, channelId).followers);
    },
    isFollowingChannel({ channelId, fid }) {
      const refused = refusalOfChannel(context, channelId, false) ?? refusalOfFid(context, fid);
      if (refused) return refused;
      const uri = followUriOf(registrarOfIndex(db), channelId);
      const since = channelsActiveAt(db);
      const row = uri === undefined || since === undefined ? null : db.get(followedAt, uri, fid, since);
      return ok(row ? toFarcasterSecs(row.timestamp) : undefined);
    },
  };
}
