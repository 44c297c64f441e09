import { CHANNEL_ID_BYTES, MemberState, stateAfter } from "../channels/slots.ts";
import { invalid, type Rejection } from "../rejection.ts";
import {
  CastingMode,
  type ChannelMemberBody,
  ChannelModerateAction,
  type ChannelModerateBody,
  type ChannelPinBody,
  type ChannelUpdateBody,
  MembershipMode,
} from "../wire/generated/message.ts";
import { checkCastHash, checkFid } from "./fields.ts";

const MAX_FID = 0xffff_ffff;

/** Texts have no limit of their own: the size of the data bounds them. */
export function validateChannelUpdate(body: ChannelUpdateBody): Rejection | undefined {
  const { castingMode, membershipMode } = body;
  if (castingMode !== undefined && CastingMode[castingMode] === undefined)
    return invalid("casting_mode is unknown");
  if (membershipMode !== undefined && MembershipMode[membershipMode] === undefined)
    return invalid("membership_mode is unknown");
  return checkChannelId(body);
}

export function validateChannelMember(body: ChannelMemberBody): Rejection | undefined {
  if (body.fid > MAX_FID) return invalid(`fid is above ${MAX_FID}`);
  const isAction = (stateAfter(body.action) ?? MemberState.None) !== MemberState.None;
  return (
    checkChannelId(body) ?? checkFid(body.fid, "fid") ?? (isAction ? undefined : invalid("action is unknown"))
  );
}

/** An empty hash unpins. Whether the cast exists is not checked. */
export function validateChannelPin(body: ChannelPinBody): Rejection | undefined {
  return (
    checkChannelId(body) ??
    (body.castHash.length === 0 ? undefined : checkCastHash(body.castHash, "cast_hash"))
  );
}

export function validateChannelModerate(body: ChannelModerateBody): Rejection | undefined {
  const { CHANNEL_MODERATE_ACTION_HIDE, CHANNEL_MODERATE_ACTION_UNHIDE } = ChannelModerateAction;
  const isAction =
    body.action === CHANNEL_MODERATE_ACTION_HIDE || body.action === CHANNEL_MODERATE_ACTION_UNHIDE;
  return (
    checkChannelId(body) ??
    checkCastHash(body.castHash, "cast_hash") ??
    (isAction ? undefined : invalid("action is unknown"))
  );
}

function checkChannelId({ channelId }: { readonly channelId: Uint8Array }): Rejection | undefined {
  return channelId.length === CHANNEL_ID_BYTES
    ? undefined
    : invalid(`channel_id must be ${CHANNEL_ID_BYTES} bytes`);
}
