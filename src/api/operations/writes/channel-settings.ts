import { type TProperties, Type } from "@sinclair/typebox";
import { MessageType } from "../../../protocol/wire/generated/message.ts";
import { composeModeration, composePin, composeSettings } from "../../../writes/compose/channel-settings.ts";
import { ChannelName, inChannel, NEEDS_CHAIN } from "./channel-members.ts";
import { doneInChannel, managedWrite, signerBody } from "./managed-write.ts";

const optional = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) =>
  Type.Optional(Type.Union([type, Type.Null()]));
const words = (names: readonly string[]) => Type.Union(names.map((name) => Type.Literal(name)));
const text = () => optional(Type.String());

const inBody = (properties: TProperties) => signerBody({ channel_id: ChannelName, ...properties });
const CastInBody = inBody({ cast_hash: Type.String({ description: "Hash of the cast" }) });

const shared = { tag: "Channels", errors: ["notFound"], isOwn: true } as const;

export const channelSettingsWriteOperations = [
  ...managedWrite({
    ...shared,
    id: "updateChannel",
    method: "PATCH",
    path: "/channel",
    summary: "Change the settings of a channel",
    description: `Only given fields change; null unsets one. A message has all settings, so 409 if they have changed meanwhile: nothing is cleared. ${NEEDS_CHAIN}`,
    body: inBody({
      name: text(),
      description: text(),
      image_url: optional(Type.String({ description: "An http or https URL, or an empty text" })),
      header: text(),
      rules: text(),
      casting_mode: optional(words(["everyone", "members_only", "recommended"])),
      membership_mode: optional(words(["open", "approval"])),
    }),
    type: MessageType.MESSAGE_TYPE_CHANNEL_UPDATE,
    compose: inChannel(composeSettings),
    present: doneInChannel("the settings of the channel are changed"),
  }),
  ...managedWrite({
    ...shared,
    id: "pinInChannel",
    method: "POST",
    path: "/channel/pin",
    summary: "Pin a cast in a channel",
    description: `A channel has one pin. A cast that is pinned already makes no message. ${NEEDS_CHAIN}`,
    body: CastInBody,
    type: MessageType.MESSAGE_TYPE_CHANNEL_PIN,
    compose: inChannel((act) => composePin(act, true)),
    present: doneInChannel("the cast is pinned"),
  }),
  ...managedWrite({
    ...shared,
    id: "unpinInChannel",
    method: "DELETE",
    path: "/channel/pin",
    summary: "Unpin what is pinned in a channel",
    description: `Without a pin there is no message. ${NEEDS_CHAIN}`,
    body: inBody({}),
    type: MessageType.MESSAGE_TYPE_CHANNEL_PIN,
    compose: inChannel((act) => composePin(act, false)),
    present: doneInChannel("no cast is pinned"),
  }),
  ...managedWrite({
    ...shared,
    id: "hideInChannel",
    method: "POST",
    path: "/channel/moderation",
    summary: "Hide a cast in a channel",
    description: `Lists of the channel leave it out; all others have it. ${NEEDS_CHAIN}`,
    body: CastInBody,
    type: MessageType.MESSAGE_TYPE_CHANNEL_MODERATE,
    compose: inChannel((act) => composeModeration(act, true)),
    present: doneInChannel("the cast is hidden in the channel"),
  }),
  ...managedWrite({
    ...shared,
    id: "unhideInChannel",
    method: "DELETE",
    path: "/channel/moderation",
    summary: "Show a hidden cast in a channel again",
    description: `A cast that is not hidden makes no message. ${NEEDS_CHAIN}`,
    body: CastInBody,
    type: MessageType.MESSAGE_TYPE_CHANNEL_MODERATE,
    compose: inChannel((act) => composeModeration(act, false)),
    present: doneInChannel("the cast is shown in the channel"),
  }),
];
