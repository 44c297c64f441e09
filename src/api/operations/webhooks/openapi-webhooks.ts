import { type TProperties, type TSchema, Type } from "@sinclair/typebox";
import type { ServiceNames } from "../../../config/names.ts";
import type { Json, JsonObject } from "../../../http/openapi/document.ts";
import type { ChannelEventKind, EventKind } from "../../../protocol/event-kind.ts";
import { COMPAT_SIGNATURE_HEADER } from "../../../webhooks/deliver/sign.ts";
import { Hash, nullable, object, UnixSecs } from "../../dialects/fields.ts";
import { Cast, Channel, User } from "../../dialects/native-objects.ts";

/** A delivery as received. The service's own signature is under `signature`, whatever the service's name. */
export interface WebhookExample {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
  /** The webhook's only secret. */
  readonly secret: string;
}

interface EventText {
  readonly operationId: string;
  readonly summary: string;
  readonly data: TSchema;
}

const Follow = (kind: "follow" | "unfollow", timestamp: string) =>
  object({
    object: Type.Literal(kind),
    timestamp: UnixSecs(timestamp),
    user: User,
    target_user: Type.Union([User, Type.Null()], { description: "Null for an fid that does not exist" }),
  });

export const Reaction = (timestamp: string) =>
  object({
    object: Type.Literal("reaction"),
    timestamp: UnixSecs(timestamp),
    reaction_type: Type.Union([Type.Literal(1), Type.Literal(2)], {
      description: "1 for a like, 2 for a recast",
    }),
    user: User,
    cast: Type.Union([Cast, Type.Null()], {
      description: "Null for a URL, and for a cast that is not live",
    }),
  });

const Person = (description: string) => Type.Union([User, Type.Null()], { description });
const Actor = Person("Who signed the message that caused it; null for an event of the registry");
const ChannelChange = <Fields extends TProperties>(kind: string, fields: Fields) =>
  object({
    object: Type.Literal(kind),
    timestamp: UnixSecs("Time of the message, or of the event of the registry"),
    channel: Channel,
    ...fields,
  });
const Role = nullable(Type.Union([Type.Literal("moderator"), Type.Literal("member")]));
const RoleChange = ChannelChange("channel_role", {
  user: Person("Whose role changed; null for an fid that does not exist"),
  role: Role,
  previous_role: Role,
  actor: Actor,
});
const ofCast = {
  cast_hash: Hash,
  cast: Type.Union([Cast, Type.Null()], { description: "Null for a cast that is not live" }),
};
const Pin = ChannelChange("channel_pin", { ...ofCast, actor: Actor });
const ChannelFollow = (object: string) =>
  ChannelChange(object, { user: Person("Who follows; null for an fid that does not exist") });

const channelEvents: Readonly<Record<ChannelEventKind, EventText>> = {
  "channel.created": {
    operationId: "onChannelCreated",
    summary: "A channel was registered for the first time",
    data: ChannelChange("channel_registration", {}),
  },
  "channel.updated": {
    operationId: "onChannelUpdated",
    summary: "Settings, owner or end of the registration of a channel changed",
    data: ChannelChange("channel_update", {
      changed: Type.Array(Type.String(), { description: "The fields of the channel that changed" }),
      actor: Actor,
    }),
  },
  "channel.member.added": {
    operationId: "onChannelMemberAdded",
    summary: "A user became a member of a channel",
    data: RoleChange,
  },
  "channel.member.removed": {
    operationId: "onChannelMemberRemoved",
    summary: "A member or moderator left a channel, or was removed",
    data: RoleChange,
  },
  "channel.member.banned": {
    operationId: "onChannelMemberBanned",
    summary: "A user was banned from a channel",
    data: RoleChange,
  },
  "channel.member.unbanned": {
    operationId: "onChannelMemberUnbanned",
    summary: "The ban of a user ended",
    data: RoleChange,
  },
  "channel.moderator.added": {
    operationId: "onChannelModeratorAdded",
    summary: "A user became a moderator of a channel",
    data: RoleChange,
  },
  "channel.moderator.removed": {
    operationId: "onChannelModeratorRemoved",
    summary: "A moderator of a channel became a member",
    data: RoleChange,
  },
  "channel.pinned": {
    operationId: "onChannelPinned",
    summary: "A cast was pinned in a channel",
    data: Pin,
  },
  "channel.unpinned": {
    operationId: "onChannelUnpinned",
    summary: "The pin of a channel was removed; the body has the cast that was pinned",
    data: Pin,
  },
  "channel.follow.created": {
    operationId: "onChannelFollowCreated",
    summary: "A user followed a channel",
    data: ChannelFollow("channel_follow"),
  },
  "channel.follow.deleted": {
    operationId: "onChannelFollowDeleted",
    summary: "A user stopped following a channel",
    data: ChannelFollow("channel_unfollow"),
  },
  "cast.moderated": {
    operationId: "onCastModerated",
    summary: "A cast was hidden in a channel, or is shown in it again",
    data: ChannelChange("moderation", { ...ofCast, hidden: Type.Boolean(), actor: Actor }),
  },
};

const events: Readonly<Record<EventKind, EventText>> = {
  "cast.created": { operationId: "onCastCreated", summary: "A cast was published", data: Cast },
  "cast.deleted": {
    operationId: "onCastDeleted",
    summary: "A cast was deleted, pruned or revoked; the body contains its last state",
    data: Cast,
  },
  "follow.created": {
    operationId: "onFollowCreated",
    summary: "A user followed another",
    data: Follow("follow", "Time of the follow"),
  },
  "follow.deleted": {
    operationId: "onFollowDeleted",
    summary: "A user stopped following another",
    data: Follow("unfollow", "Time of the unfollow"),
  },
  "reaction.created": {
    operationId: "onReactionCreated",
    summary: "A user liked or recasted a cast or a URL",
    data: Reaction("Time of the reaction"),
  },
  "reaction.deleted": {
    operationId: "onReactionDeleted",
    summary: "A like or recast was removed",
    data: Reaction("Time of the removal"),
  },
  "user.created": { operationId: "onUserCreated", summary: "An fid was registered", data: User },
  "user.updated": {
    operationId: "onUserUpdated",
    summary: "A profile, a name, an address or the custody of a user changed",
    data: User,
  },
  ...channelEvents,
};

const eventBody = (kind: string, data: TSchema) =>
  object({
    created_at: UnixSecs("When the node applied the event"),
    type: Type.Literal(kind),
    test: Type.Optional(
      Type.Literal(true, { description: "Only in events created by `POST /webhook/test`" }),
    ),
    data,
  });

/** Returns the path items of the requests that the service sends to webhooks, by event kind. */
export function webhookDocumentation(
  names: ServiceNames,
  examples: Readonly<Record<string, WebhookExample>>,
): JsonObject {
  const items = Object.entries(events).map(([kind, { operationId, summary, data }]) => {
    const example = examples[kind];
    const operation = {
      operationId,
      summary,
      description:
        "Sent to the webhooks whose `subscription` the event matches. A delivery can arrive more than once, with the same " +
        "`webhook-id`; a failed attempt is repeated with growing delays." +
        (example === undefined ? "" : ` The example is signed with the secret \`${example.secret}\`.`),
      parameters: headers(names, example?.headers ?? {}),
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: eventBody(kind, data),
            ...(example === undefined ? {} : { example: example.body }),
          },
        },
      },
      responses: responses(),
    };
    return [kind, { post: operation }];
  });
  // The generator's form of schemas has no TypeBox symbols.
  return JSON.parse(JSON.stringify(Object.fromEntries(items))) as JsonObject;
}

function headers({ headerPrefix }: ServiceNames, example: WebhookExample["headers"]) {
  const header = (name: string, description: string, shown: string | undefined, required = true) => ({
    name,
    in: "header",
    required,
    description,
    schema: { type: "string" },
    ...(shown === undefined ? {} : { example: shown }),
  });
  return [
    header(
      `${headerPrefix}Signature`,
      "Hex HMAC-SHA512 of the body, byte for byte; the key is the text of the newest secret",
      example.signature,
    ),
    header(
      COMPAT_SIGNATURE_HEADER,
      `The value of \`${headerPrefix}Signature\`, for webhooks that were created under a compat prefix`,
      example.signature,
      false,
    ),
    header(
      "webhook-id",
      "Id of the message; the same in every attempt and after a replay",
      example["webhook-id"],
    ),
    header("webhook-timestamp", "Time of the attempt, unix seconds", example["webhook-timestamp"]),
    header(
      "webhook-signature",
      "Signatures of Standard Webhooks over `<webhook-id>.<webhook-timestamp>.<body>`, separated by spaces, one for each " +
        "unexpired secret: `v1,` and base64 HMAC-SHA256. Its libraries accept `standard_secret` as the key",
      example["webhook-signature"],
    ),
  ];
}

function responses() {
  return {
    "2XX": { description: "The delivery succeeded. The first 2 KB of the body are stored for the owner." },
    "410": { description: "The receiver is gone: the webhook is deactivated." },
    "4XX": {
      description:
        "The delivery failed permanently. 408, 425 and 429 are retried instead, after the delay in `Retry-After`.",
    },
    "5XX": {
      description: "The delivery is retried, as it is after a redirect, a timeout or a failed connection.",
    },
  };
}
