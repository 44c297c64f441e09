import { type Static, Type } from "@sinclair/typebox";
import { ToolError } from "../node-call.ts";
import { CastRecord, castRecord, type NativeCast, quotedBy } from "../records.ts";
import { Cursor, collect, Fid, type Page, paging, type ToolContext, tool } from "../tool.ts";

const MAX_DEPTH = 5;
const MAX_PARENTS = 5;
const MAX_THREAD_CASTS = 200;

const identifier = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: "The hash of a cast (0x and 40 hex digits), or its URL at a client",
});
const casts = { casts: Type.Array(CastRecord), cursor: Cursor };
const channel = Type.String({ minLength: 1, maxLength: 256, description: "Id of a channel" });
const isoText = (description: string) => Type.String({ minLength: 10, maxLength: 40, description });

export const castTools = [
  tool({
    name: "get_cast",
    title: "Get a cast",
    description:
      "Returns one cast with the counts of its reactions and replies, and the casts that it quotes.",
    input: { cast: identifier },
    output: { cast: CastRecord, quotes: Type.Array(CastRecord) },
    list: "quotes",
    async run({ cast: named }, context) {
      const { cast } = await context.get<{ cast: NativeCast }>("/cast", castQuery(named));
      const quotes = quotedBy(cast).map((quoted) => castRecord(quoted, context));
      return { cast: castRecord(cast, context), quotes, truncated: false, content_is_untrusted: true };
    },
  }),
  tool({
    name: "get_thread",
    title: "Get a thread",
    description:
      "Returns a cast with its ancestors and its replies as a flat list, each with reply_to, and once each the casts that they quote.",
    input: {
      cast: identifier,
      depth: Type.Optional(
        Type.Integer({ minimum: 0, maximum: MAX_DEPTH, default: 2, description: "Levels of replies" }),
      ),
      parents: Type.Optional(
        Type.Integer({ minimum: 0, maximum: MAX_PARENTS, default: 0, description: "Ancestors" }),
      ),
    },
    output: { casts: Type.Array(CastRecord), quotes: Type.Array(CastRecord) },
    list: "casts",
    async run({ cast: named, depth = 2, parents = 0 }, context) {
      const { identifier, type } = castQuery(named);
      const root = await context.get<Conversation>("/cast/conversation", {
        identifier,
        type,
        reply_depth: depth,
      });
      const thread = [...(await ancestorsOf(root.cast, parents, context)), ...flatten(root)];
      const shown = thread.slice(0, MAX_THREAD_CASTS);
      const hashes = new Set(shown.map(({ hash }) => hash));
      const quotes = new Map(
        shown.flatMap((cast) =>
          quotedBy(cast).flatMap((quoted) =>
            hashes.has(quoted.hash) ? [] : [[quoted.hash, quoted] as const],
          ),
        ),
      );
      return {
        casts: shown.map((cast) => castRecord(cast, context)),
        quotes: [...quotes.values()].map((cast) => castRecord(cast, context)),
        truncated: shown.length < thread.length,
        content_is_untrusted: true,
      };
    },
  }),
  tool({
    name: "search_casts",
    title: "Search casts",
    description:
      "Finds casts with all words of the text, the newest first. Author, channel and time are filters on what is found: a page may be short while its cursor is not null.",
    input: {
      q: Type.String({ minLength: 1, maxLength: 256 }),
      author: Type.Optional(Fid),
      channel: Type.Optional(channel),
      since: Type.Optional(isoText("ISO 8601: no casts before it")),
      until: Type.Optional(isoText("ISO 8601: no casts after it")),
      ...paging,
    },
    output: casts,
    list: "casts",
    isPaged: true,
    run({ q, author, channel: id, since, until, ...page }, context) {
      const from = secondsOf("since", since) ?? Number.NEGATIVE_INFINITY;
      const to = secondsOf("until", until) ?? Number.POSITIVE_INFINITY;
      const keeps = (cast: NativeCast) =>
        (author === undefined || cast.author.fid === author) &&
        (id === undefined || cast.channel?.id === id) &&
        cast.timestamp >= from &&
        cast.timestamp <= to;
      return castPage("/cast/search", { q }, page, context, keeps);
    },
  }),
  tool({
    name: "get_feed",
    title: "Get a feed",
    description:
      "Lists casts: of those that fid follows, trending ones, of a channel, by the user fid, or with kind filter those below a parent URL.",
    input: {
      kind: Type.Union(
        (["following", "trending", "channel", "user", "filter"] as const).map((kind) => Type.Literal(kind)),
      ),
      fid: Type.Optional(Fid),
      channel: Type.Optional(channel),
      parent_url: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
      ...paging,
    },
    output: casts,
    list: "casts",
    isPaged: true,
    run({ kind, fid, channel: id, parent_url, ...page }, context) {
      const needed = <T>(name: string, value: T | undefined): T => {
        if (value === undefined) throw new ToolError(`kind ${kind} needs ${name}`);
        return value;
      };
      switch (kind) {
        case "following":
          return castPage("/feed/following", { fid: needed("fid", fid) }, page, context);
        case "trending":
          return castPage("/feed/trending", {}, page, context);
        case "channel":
          return castPage("/feed/channels", { channel_ids: needed("channel", id) }, page, context);
        case "user":
          return castPage("/feed/user/casts", { fid: needed("fid", fid) }, page, context);
        case "filter":
          return castPage(
            "/feed/parent_urls",
            { parent_urls: needed("parent_url", parent_url) },
            page,
            context,
          );
      }
    },
  }),
];

interface Conversation {
  readonly cast: NativeCast;
  readonly replies: readonly Conversation[];
}

const castQuery = (named: string) => ({
  identifier: named,
  type: /^https?:/.test(named) ? ("url" as const) : ("hash" as const),
});

function flatten({ cast, replies }: Conversation): readonly NativeCast[] {
  return [cast, ...replies.flatMap(flatten)];
}

/** Reads the ancestors of a cast, oldest first, up to one that the node does not have. */
async function ancestorsOf(cast: NativeCast, count: number, context: ToolContext): Promise<NativeCast[]> {
  const found: NativeCast[] = [];
  let hash = cast.parent_hash;
  while (hash !== null && found.length < count) {
    const parent = await parentOf(hash, context);
    if (parent === undefined) break;
    found.unshift(parent);
    hash = parent.parent_hash;
  }
  return found;
}

async function parentOf(hash: string, context: ToolContext): Promise<NativeCast | undefined> {
  const { casts } = await context.get<{ casts: readonly NativeCast[] }>("/cast/bulk", { hashes: hash });
  return casts[0];
}

function secondsOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new ToolError(`${name} must be a time in ISO 8601`);
  return ms / 1000;
}

async function castPage(
  path: string,
  query: Readonly<Record<string, string | number>>,
  page: { readonly limit?: number; readonly cursor?: string },
  context: ToolContext,
  keeps?: (cast: NativeCast) => boolean,
): Promise<{
  casts: Static<typeof CastRecord>[];
  cursor: string | null;
  truncated: boolean;
  content_is_untrusted: true;
}> {
  const read = async (asked: { limit: number; cursor: string | undefined }) => {
    const { casts, next } = await context.get<Page<"casts", NativeCast>>(path, { ...query, ...asked });
    return [casts, next.cursor] as const;
  };
  const { rows, cursor } = await collect(page, read, keeps);
  return {
    casts: rows.map((cast) => castRecord(cast, context)),
    cursor,
    truncated: false,
    content_is_untrusted: true,
  };
}
