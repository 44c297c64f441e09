import {
  ChannelMemberAction as Action,
  CastingMode,
  ChannelModerateAction,
  MembershipMode,
  MessageType,
} from "../../../src/protocol/wire/generated/message.ts";
import { signMessage } from "../../support/messages.ts";
import { type Body, FID, HASH, type Refused, signer, testMessages, type Valid } from "./message-tables.ts";

const T = MessageType;
const channelId = new Uint8Array(32).fill(9);
const SHORT_ID = channelId.subarray(1);
const LONG_ID = new Uint8Array(33);
const SHORT_HASH = HASH.subarray(1);
const MAX_FID = 0xffff_ffff;
const { CHANNEL_MEMBER_ACTION_BAN: BAN, CHANNEL_MEMBER_ACTION_NONE: NO_ACTION } = Action;
const { CHANNEL_MODERATE_ACTION_HIDE: HIDE, CHANNEL_MODERATE_ACTION_UNHIDE: UNHIDE } = ChannelModerateAction;

const update = (over: Body<"channelUpdateBody">) =>
  signMessage(
    {
      type: T.MESSAGE_TYPE_CHANNEL_UPDATE,
      fid: FID,
      body: { $case: "channelUpdateBody", value: { channelId, name: "n", ...over } },
    },
    signer,
  );
const member = (over: Body<"channelMemberBody">) =>
  signMessage(
    {
      type: T.MESSAGE_TYPE_CHANNEL_MEMBER,
      fid: FID,
      body: { $case: "channelMemberBody", value: { channelId, fid: 3, action: BAN, ...over } },
    },
    signer,
  );
const pin = (over: Body<"channelPinBody">) =>
  signMessage(
    {
      type: T.MESSAGE_TYPE_CHANNEL_PIN,
      fid: FID,
      body: { $case: "channelPinBody", value: { channelId, castHash: HASH, ...over } },
    },
    signer,
  );
const moderate = (over: Body<"channelModerateBody">) =>
  signMessage(
    {
      type: T.MESSAGE_TYPE_CHANNEL_MODERATE,
      fid: FID,
      body: { $case: "channelModerateBody", value: { channelId, castHash: HASH, action: HIDE, ...over } },
    },
    signer,
  );

const castingMode = CastingMode.CASTING_MODE_MEMBERS_ONLY;
const membershipMode = MembershipMode.MEMBERSHIP_MODE_OPEN;

const valid: readonly Valid[] = [
  ["settings of a channel without modes", update({})],
  ["settings of a channel with both modes", update({ castingMode, membershipMode })],
  ...[1, 2, 3, 4, 5, 6].map((action): Valid => [`action ${action} on a member`, member({ action })]),
  ["an action on the greatest fid", member({ fid: MAX_FID })],
  ["a pin", pin({})],
  ["the removal of a pin", pin({ castHash: new Uint8Array() })],
  ["a hidden cast", moderate({})],
  ["an unhidden cast", moderate({ action: UNHIDE })],
];

const refused: readonly Refused[] = [
  ...[SHORT_ID, LONG_ID, new Uint8Array()].flatMap((id): Refused[] => [
    [`settings of a channel id of ${id.length} bytes`, update({ channelId: id }), /channel_id must be 32/],
    [`a member of a channel id of ${id.length} bytes`, member({ channelId: id }), /channel_id must be 32/],
    [`a pin of a channel id of ${id.length} bytes`, pin({ channelId: id }), /channel_id must be 32/],
    [`a cast of a channel id of ${id.length} bytes`, moderate({ channelId: id }), /channel_id must be 32/],
  ]),
  ["an unknown casting mode", update({ castingMode: 9 as CastingMode }), /casting_mode is unknown/],
  [
    "an unknown membership mode",
    update({ membershipMode: 9 as MembershipMode }),
    /membership_mode is unknown/,
  ],
  ["a member without fid", member({ fid: 0 }), /fid is missing/],
  ["a member with an fid of 33 bits", member({ fid: MAX_FID + 1 }), /fid is above 4294967295/],
  ["no action on a member", member({ action: NO_ACTION }), /action is unknown/],
  ["an unknown action on a member", member({ action: 9 as Action }), /action is unknown/],
  ["a pin of a hash of 19 bytes", pin({ castHash: SHORT_HASH }), /cast_hash must be 20/],
  ["a hidden cast with a hash of 19 bytes", moderate({ castHash: SHORT_HASH }), /cast_hash must be 20/],
  ["a hidden cast without hash", moderate({ castHash: new Uint8Array() }), /cast_hash must be 20/],
  ["no action on a cast", moderate({ action: 0 }), /action is unknown/],
  ["an unknown action on a cast", moderate({ action: 9 as ChannelModerateAction }), /action is unknown/],
];

testMessages(valid, refused, "bad_request.validation_failure");
