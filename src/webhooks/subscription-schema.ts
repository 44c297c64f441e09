import { type TSchema, Type } from "@sinclair/typebox";
import { checked, FidNumber, Text } from "../management/request-schema.ts";
import { CHANNEL_EVENT_KINDS, type ChannelEventKind, type EventKind } from "../protocol/event-kind.ts";
import {
  MAX_PROGRAM_SIZE,
  MAX_REGEX_CHARS,
  MAX_UNFILTERED_PROGRAM_SIZE,
  readRegexProgram,
} from "./match/expressions/regex-program.ts";
import type { Subscription } from "./subscription.ts";

/** Schema of subscriptions in their normal form; see `readSubscription` for other spellings. */

export const MAX_FILTER_ENTRIES = 1024;
const MAX_EXCLUDED_FIDS = 1_000;
/** The protocol allows 256 bytes; more can never match. */
const MAX_PARENT_URL_CHARS = 1024;
/** An id has at most 255 bytes. */
const MAX_CHANNEL_ID_CHARS = 255;
const CAST_HASH = "^0[xX][0-9a-fA-F]{40}$";
const castHash = new RegExp(CAST_HASH);

const limited = { maxItems: MAX_FILTER_ENTRIES };
const Fids = Type.Array(FidNumber, limited);
const Hash = checked<string>({ type: "string", pattern: CAST_HASH }, (value) =>
  typeof value === "string" && castHash.test(value) ? undefined : "must be 0x and 40 hex digits",
);
const Hashes = Type.Array(Hash, limited);
const Urls = Type.Array(Text({ min: 1, max: MAX_PARENT_URL_CHARS }), limited);
const ChannelIds = Type.Array(Text({ min: 1, max: MAX_CHANNEL_ID_CHARS }), {
  ...limited,
  description: "Ids of registered channels, or their ids of the protocol as `0x` and 64 hex digits",
});
const Regex = checked<string>(
  {
    type: "string",
    maxLength: MAX_REGEX_CHARS,
    description:
      `RE2 expression, unanchored, of at most ${MAX_PROGRAM_SIZE} compiled instructions, or ` +
      `${MAX_UNFILTERED_PROGRAM_SIZE} if it requires no literal of two or more characters`,
  },
  (value) => {
    const program = readRegexProgram(value);
    return program.ok ? undefined : program.error.reason;
  },
);
const Match = checked<"all" | "any">(
  {
    ...Type.Union([Type.Literal("all"), Type.Literal("any")]),
    description: "Whether every provided field must match (the default) or any; exclusions always apply",
  },
  (value) => (value === "all" || value === "any" ? undefined : 'must be "all" or "any"'),
);

const MinimumScore = checked<number>(
  {
    type: "number",
    minimum: 0,
    maximum: 1,
    description: "The least score of the author. Only on a node whose `scores.enforce` lists `webhooks`",
  },
  (value) =>
    typeof value === "number" && value >= 0 && value <= 1 ? undefined : "must be a number from 0 to 1",
);

/** Whose events are left out. */
const ExclusionSchema = Type.Object(
  {
    bans: Type.Optional(
      Type.Boolean({
        description:
          "Whether those that the owner of the webhook, or of the stream's API key, bans are left out",
      }),
    ),
    fids: Type.Optional(Type.Array(FidNumber, { maxItems: MAX_EXCLUDED_FIDS })),
  },
  {
    additionalProperties: false,
    $id: "SubscriptionExclusion",
    description:
      "Events whose author, follower, reactor, changed user or signer of a channel's change is listed are left out, of every kind and whatever `match` says",
  },
);

const castFilters = {
  match: Match,
  author_fids: Fids,
  exclude_author_fids: Fids,
  minimum_author_score: MinimumScore,
  mentioned_fids: Fids,
  parent_urls: Urls,
  root_parent_urls: Urls,
  parent_hashes: Hashes,
  parent_author_fids: Fids,
  text: Regex,
  embeds: Regex,
  embedded_cast_author_fids: Fids,
  embedded_cast_hashes: Hashes,
};
const followFilters = { match: Match, fids: Fids, target_fids: Fids };
const channelFilters = { match: Match, channel_ids: ChannelIds, fids: Fids, author_fids: Fids };
const reactionFilters = { match: Match, fids: Fids, target_fids: Fids, target_cast_hashes: Hashes };

const filtersByKind: Readonly<Record<EventKind, Readonly<Record<string, TSchema>>>> = {
  "cast.created": castFilters,
  "cast.deleted": castFilters,
  "follow.created": followFilters,
  "follow.deleted": followFilters,
  "reaction.created": reactionFilters,
  "reaction.deleted": reactionFilters,
  "user.created": { match: Match },
  "user.updated": { match: Match, fids: Fids },
  ...(Object.fromEntries(CHANNEL_EVENT_KINDS.map((kind) => [kind, channelFilters])) as Record<
    ChannelEventKind,
    typeof channelFilters
  >),
};

/** All kinds of events with the names of their filters. */
export const eventKinds = Object.entries(filtersByKind).map(([kind, filters]) => ({
  kind: kind as EventKind,
  filters: Object.keys(filters),
}));

const closed = { additionalProperties: false } as const;
const FiltersByKind = Type.Object(
  {
    ...Object.fromEntries(
      Object.entries(filtersByKind).map(([kind, filters]) => [
        kind,
        Type.Optional(Type.Partial(Type.Object(filters), closed)),
      ]),
    ),
    exclude: Type.Optional(ExclusionSchema),
  },
  {
    ...closed,
    $id: "Subscription",
    minProperties: 1,
    description:
      "The subscribed event kinds, each with its filter; `{}` means every event of the kind. In requests a " +
      "kind may be written with `_` instead of its dots. An empty list does not filter.",
  },
);
export const SubscriptionSchema = Type.Unsafe<Subscription>(FiltersByKind);
