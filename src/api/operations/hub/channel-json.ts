import type { MessageData } from "../../../protocol/wire/generated/message.ts";
import { hex } from "./bytes-json.ts";
import {
  CASTING_MODES,
  CHANNEL_MEMBER_ACTIONS,
  CHANNEL_MODERATE_ACTIONS,
  MEMBERSHIP_MODES,
  nameOf,
} from "./names.ts";

type Body = NonNullable<MessageData["body"]>;

/** The bodies of messages of channels. */
type ChannelBody = Extract<
  Body,
  { $case: "channelUpdateBody" | "channelMemberBody" | "channelPinBody" | "channelModerateBody" }
>;

/** Returns the body of a message of a channel as JSON, key by key as the reference node writes it. Unset fields have no key. */
export function channelBodyJson(body: ChannelBody): object {
  const channelId = hex(body.value.channelId);
  switch (body.$case) {
    case "channelUpdateBody": {
      const { channelId: _, castingMode, membershipMode, ...texts } = body.value;
      return {
        channelUpdateBody: {
          channelId,
          ...texts,
          ...(castingMode !== undefined && { castingMode: nameOf(CASTING_MODES, castingMode) }),
          ...(membershipMode !== undefined && { membershipMode: nameOf(MEMBERSHIP_MODES, membershipMode) }),
        },
      };
    }
    case "channelMemberBody": {
      const { fid, action } = body.value;
      return { channelMemberBody: { channelId, fid, action: nameOf(CHANNEL_MEMBER_ACTIONS, action) } };
    }
    case "channelPinBody":
      return { channelPinBody: { channelId, castHash: hex(body.value.castHash) } };
    case "channelModerateBody": {
      const { castHash, action } = body.value;
      return {
        channelModerateBody: {
          channelId,
          castHash: hex(castHash),
          action: nameOf(CHANNEL_MODERATE_ACTIONS, action),
        },
      };
    }
  }
}
