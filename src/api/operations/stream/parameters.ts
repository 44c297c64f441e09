import { Type } from "@sinclair/typebox";
import {
  badRequest,
  choice,
  type DecodedQuery,
  fidList,
  hashList,
  integer,
  list,
  optional,
  type QueryParam,
  text,
} from "../../../http/request/params.ts";
import { listValues } from "../../../http/request/query-string.ts";
import type { EventKind } from "../../../protocol/event-kind.ts";
import type { StreamStart } from "../../../stream/position.ts";
import { positionOf } from "../../../stream/position.ts";
import { MAX_REGEX_CHARS, readRegexProgram } from "../../../webhooks/match/expressions/regex-program.ts";
import { normalChannelId } from "../../../webhooks/read-subscription.ts";
import type { Subscription } from "../../../webhooks/subscription.ts";
import { eventKinds } from "../../../webhooks/subscription-schema.ts";

const MAX_URL_CHARS = 1024;
const MAX_CHANNEL_ID_CHARS = 255;
const MAX_EXCLUDED_FIDS = 1_000;
const kinds = eventKinds.map(({ kind }) => kind);

function expression(description: string): QueryParam<string | undefined> {
  const param = text({ maxChars: MAX_REGEX_CHARS, description });
  return optional({
    ...param,
    decode(values, name) {
      const value = param.decode(values, name);
      const program = readRegexProgram(value);
      if (!program.ok) throw badRequest(`${name} ${program.error.reason}`);
      return value;
    },
  });
}

/** A list of texts that may contain commas, so it is read from the raw query. */
function texts(description: string, maxLength: number): QueryParam<undefined> {
  const schema = Type.Array(Type.String({ maxLength }), {
    description: `${description}. A comma within one is written as %2C, or the parameter is repeated for each`,
  });
  return { schema, required: false, decode: () => undefined };
}

function kind(): QueryParam<readonly EventKind[] | undefined> {
  const parse = (word: string, name: string): EventKind => {
    const found = kinds.find((one) => one === word || one.replaceAll(".", "_") === word);
    if (found === undefined) throw badRequest(`${name} must be a list of ${kinds.join(", ")}`);
    return found;
  };
  const schema = Type.Unsafe<EventKind>({ type: "string", enum: kinds });
  return optional(
    list(schema, parse, {
      maxItems: kinds.length,
      description: "Kinds of events. Without it, every kind that has all the given filters",
      examples: [["cast.created"]],
    }),
  );
}

function minimumScore(): QueryParam<number | undefined> {
  return optional({
    schema: Type.Number({
      minimum: 0,
      maximum: 1,
      description:
        "The least score of the author of a cast. Only on a node whose `scores.enforce` lists `webhooks`",
    }),
    required: false,
    decode(values, name) {
      const [value = ""] = values;
      const score = /^[01](\.[0-9]{1,6})?$/.test(value) ? Number(value) : Number.NaN;
      if (!(score <= 1)) throw badRequest(`${name} must be a number from 0 to 1`);
      return score;
    },
  });
}

/** The query parameter for which an API key is used, because of its owner's bans. */
export const exclusionParams = {
  exclude_bans: optional(
    choice(["true", "false"], {
      description:
        "Whether the events of those that the owner of the API key bans are left out, which needs a key with the scope `read`",
    }),
  ),
};

/** The query parameters that narrow a stream. */
export function filterParams(maxItems: number) {
  const fids = (description: string) => optional(fidList({ maxItems, description }));
  const hashes = (description: string) => optional(hashList({ maxItems, description }));
  return {
    kinds: kind(),
    match: optional(
      choice(["all", "any"], {
        description: "Whether every filter must match (the default) or any; exclusions always apply",
      }),
    ),
    author_fids: fids(
      "Who casts, follows, reacts or changes; of channels, who signed the message that changed one",
    ),
    fids: fids(
      "The same as `author_fids`; of channels, whom the change concerns: the owner, member, author of the cast or follower",
    ),
    channel_ids: texts("Registered channels that changed, by `id` or `channel_id`", MAX_CHANNEL_ID_CHARS),
    exclude_author_fids: fids("Authors whose casts are left out"),
    exclude_fids: optional(
      fidList({
        maxItems: MAX_EXCLUDED_FIDS,
        description:
          "Authors, followers, reactors and changed users whose events are left out, of every kind",
      }),
    ),
    minimum_author_score: minimumScore(),
    mentioned_fids: fids("Users that a cast mentions"),
    parent_urls: texts("Parent URLs of casts, such as those of channels", MAX_URL_CHARS),
    root_parent_urls: texts("Parent URLs of the roots of the threads of casts", MAX_URL_CHARS),
    parent_hashes: hashes("Casts that a cast replies to"),
    parent_author_fids: fids("Authors of casts that a cast replies to"),
    text: expression("RE2 expression over the text of a cast, unanchored"),
    embeds: expression("RE2 expression over the URLs that a cast embeds, unanchored"),
    embedded_cast_author_fids: fids("Authors of casts that a cast embeds"),
    embedded_cast_hashes: hashes("Casts that a cast embeds"),
    target_fids: fids("Who is followed, or whose cast gets a reaction"),
    target_cast_hashes: hashes("Casts that get a reaction"),
  };
}

type Filters = DecodedQuery<ReturnType<typeof filterParams>>;

/** The parameters that are used as filters unchanged. */
const FILTERS = [
  "author_fids",
  "fids",
  "exclude_author_fids",
  "minimum_author_score",
  "mentioned_fids",
  "parent_hashes",
  "parent_author_fids",
  "text",
  "embeds",
  "embedded_cast_author_fids",
  "embedded_cast_hashes",
  "target_fids",
  "target_cast_hashes",
] as const satisfies readonly (keyof Filters)[];

/** Returns the field of a kind's filter that a parameter sets; undefined if the kind has none. */
function fieldOf(param: string, { filters }: (typeof eventKinds)[number]): string | undefined {
  if (filters.includes(param)) return param;
  const other = param === "author_fids" ? "fids" : param === "fids" ? "author_fids" : param;
  return filters.includes(other) ? other : undefined;
}

/**
 * Returns the subscription of a query.
 * @throws ApiError `badRequest` naming the parameter
 */
export function subscriptionOf(query: Filters, url: string, maxItems: number): Subscription {
  const { kinds: wanted, match } = query;
  const given = new Map<string, unknown>();
  for (const name of FILTERS) if (query[name] !== undefined) given.set(name, query[name]);
  for (const name of ["parent_urls", "root_parent_urls"]) {
    const values = textsIn(url, name, { maxItems, maxChars: MAX_URL_CHARS });
    if (values.length > 0) given.set(name, values);
  }
  const channels = textsIn(url, "channel_ids", { maxItems, maxChars: MAX_CHANNEL_ID_CHARS });
  if (channels.length > 0) given.set("channel_ids", channels.map(normalChannelId));
  const chosen = eventKinds.filter(({ kind: name }) => wanted === undefined || wanted.includes(name));
  const filters = chosen.flatMap((one) => {
    const fields = new Map<string, unknown>(match === undefined ? [] : [["match", match]]);
    for (const [param, value] of given) {
      const field = fieldOf(param, one);
      if (field !== undefined) fields.set(field, joined(fields.get(field), value));
      else if (wanted === undefined) return [];
      else throw badRequest(`${param} is no filter of ${one.kind}`);
    }
    return [[one.kind, Object.fromEntries(fields)]];
  });
  if (filters.length === 0) throw badRequest(`no kind of event has all of ${[...given.keys()].join(", ")}`);
  const { exclude_fids: fids } = query;
  return { ...(Object.fromEntries(filters) as Subscription), ...(fids && { exclude: { fids } }) };
}

/** For most kinds, `fids` and `author_fids` are the same field. */
function joined(before: unknown, value: unknown): unknown {
  return Array.isArray(before) && Array.isArray(value) ? [...new Set([...before, ...value])] : value;
}

function textsIn(
  url: string,
  name: string,
  { maxItems, maxChars }: { readonly maxItems: number; readonly maxChars: number },
): string[] {
  const values = [...new Set(listValues(url, name))];
  if (values.length > maxItems) throw badRequest(`${name} must hold at most ${maxItems} items`);
  if (values.some(({ length }) => length > maxChars))
    throw badRequest(`${name} must hold texts of at most ${maxChars} characters`);
  return values;
}

const MAX_LAST_EVENTS = 300;
/** Maximum number of events of a time range that has an end: unlike others, they are not sent again and again. */
const MAX_LAST_OF_TIME = 10_000;
const MAX_CURSOR_CHARS = 512;
/** The query parameters that specify where a stream starts. */
export const startParams = {
  cursor: optional(
    text({
      maxChars: MAX_CURSOR_CHARS,
      description:
        "The id of a frame, to go on behind it. The header `Last-Event-ID` does the same, and counts where both are given",
    }),
  ),
  since: optional(
    integer({
      min: 0,
      max: Number.MAX_SAFE_INTEGER,
      description: "Unix seconds, to begin with the first event that the node applied then or later",
    }),
  ),
  until: optional(
    integer({
      min: 1,
      max: Number.MAX_SAFE_INTEGER,
      description:
        "Unix seconds: events that the node applied then or later are left out. The frame `end` follows the last one, and the " +
        "stream closes. A cursor of the end responds with 204, so that an EventSource does not connect again",
    }),
  ),
  last: optional(
    integer({
      min: 1,
      max: MAX_LAST_OF_TIME,
      description:
        `Begin with those of the node's last so many events that the stream has, the oldest first: at most ${MAX_LAST_EVENTS}. With \`until\`, ` +
        `the last ones before it and not before \`since\`, at most ${MAX_LAST_OF_TIME}. Else \`since\` counts more`,
    }),
  ),
  gap: optional(
    choice(["skip", "error"], {
      description:
        "What happens where the events behind the cursor are gone: `skip` sends a frame `gap` and goes on with the oldest event, `error` " +
        "responds with 410. Default: `error` for `cursor`, `skip` for `Last-Event-ID` and `since`",
    }),
  ),
};

/**
 * Returns where a stream starts. An EventSource repeats its URL when it reconnects, so its `Last-Event-ID` is later than a `cursor` in
 * the URL. It cannot change that header, and gives up permanently on any status but 200. A value that no node issued (truncated, or from
 * another service) is therefore a gap, like a value from another index.
 *
 * @throws ApiError `badRequest` for a parameter `cursor` that no node issued
 */
export function startOf(
  { cursor, since, until, last: events, gap }: DecodedQuery<typeof startParams>,
  { headers }: Request,
): StreamStart {
  if (since !== undefined && until !== undefined && since >= until)
    throw badRequest("since must be before until");
  if (events !== undefined && events > MAX_LAST_EVENTS && until === undefined)
    throw badRequest(`last must be at most ${MAX_LAST_EVENTS} without until`);
  return { ...beginOf({ cursor, since, until, last: events, gap }, headers), untilSecs: until };
}

function beginOf(
  { cursor, since, until, last: events, gap }: DecodedQuery<typeof startParams>,
  headers: Headers,
): StreamStart {
  const given = cursor === undefined ? undefined : positionOf(cursor);
  if (cursor !== undefined && !given) throw badRequest("cursor is not a cursor of a stream");
  const lastEventId = headers.get("last-event-id") ?? "";
  const last = positionOf(lastEventId);
  if (given && !last) return { from: { kind: "cursor", position: given }, skipsGap: gap === "skip" };
  const skipsGap = gap !== "error";
  if (lastEventId !== "") return { from: { kind: "cursor", position: last }, skipsGap };
  if (events !== undefined && until !== undefined)
    return { from: { kind: "last", events, notBeforeSecs: since }, skipsGap };
  if (since !== undefined) return { from: { kind: "since", unixSecs: since }, skipsGap };
  if (events !== undefined) return { from: { kind: "last", events }, skipsGap };
  return { from: { kind: "live" }, skipsGap };
}
