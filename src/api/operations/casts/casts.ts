import { type Static, Type } from "@sinclair/typebox";
import { ApiError } from "../../../http/errors.ts";
import { flat, perIds, perRows } from "../../../http/limits/prices.ts";
import { choice, fid, hash, hashList, optional, text } from "../../../http/request/params.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import { CAST_SORTS, presentBulkCasts, sortCasts } from "../../../read/present/compat/cast.ts";
import { castQuotes } from "../../../read/queries/casts/cast-lists.ts";
import { castMetrics, MAX_COUNTED } from "../../../read/queries/search/cast-metrics.ts";
import { MAX_SCANNED } from "../../../read/queries/search/search-scan.ts";
import { runQuery } from "../../../read/run-query.ts";
import { nowSecs } from "../../../runtime/clock.ts";
import { CompatCastPage, compatPage, viewerFid } from "../../dialects/compat.ts";
import { CompatCast } from "../../dialects/compat-objects.ts";
import { type Assignable, Next, object } from "../../dialects/fields.ts";
import { page } from "../../dialects/native.ts";
import { respondWithCastPage, respondWithCasts } from "../../respond.ts";
import { topic } from "../../topic.ts";
import { requireFullText, WITHOUT_FULL_TEXT } from "../full-text.ts";
import { castFinder } from "./conversations.ts";

const { read } = topic({ tag: "Casts" });

const CastMetricsResponse = object({
  metrics: Type.Array(Type.Never(), { description: "Always empty" }),
  next: Next,
});

const INTERVALS = ["1d", "7d", "30d", "90d", "180d"] as const;

const CompatCastMetricsResponse = object({
  metrics: Type.Array(
    object({
      start: Type.String({ format: "date-time" }),
      resolution_in_seconds: Type.Integer(),
      cast_count: Type.Integer(),
    }),
    { description: "Oldest first, with those without casts. The last one has not ended." },
  ),
  truncated: Type.Boolean({
    description: "More casts match than are counted: the first parts of the interval are absent",
  }),
});

const METRICS_QUERY = {
  q: text({ description: "Text that the casts contain", examples: ["gm"] }),
  author_fid: optional(fid()),
  channel_id: optional(text()),
};

const Casts = object({ casts: Type.Array(CompatCast) });

const BulkCastsResponse = object({ result: Casts });

export const castOperations = [
  read({
    id: "getCast",
    path: "/cast",
    summary: "One cast, by its hash or by its URL in a client",
    query: {
      identifier: text({
        description: "A cast hash, or a URL such as https://farcaster.xyz/<username>/0x…",
      }),
      type: optional(choice(["hash", "url"]), "hash"),
      fid: optional(fid({ description: "The author that the cast must have" })),
    },
    response: "cast",
    errors: ["notFound"],
    run: ({ reads }, { query }) => {
      const find = castFinder(query.identifier, query.type);
      return runQuery(
        reads,
        find,
        (hash) => ({ hashes: hash === undefined ? [] : [hash], viewerFid: query.viewer_fid }),
        (hash, hydration) => {
          const author = hash === undefined ? undefined : hydration.casts.get(hash)?.fid;
          const body = hash === undefined ? undefined : reads.present.cast(hash, hydration);
          if (!body || (query.fid !== undefined && author !== query.fid))
            throw new ApiError("notFound", "no such cast");
          return body;
        },
      );
    },
  }),
  read({
    id: "getCasts",
    path: "/cast/bulk",
    price: perIds(5),
    summary: "Casts by hash, in the requested order; unknown casts are omitted",
    query: ({ reads }) => ({ hashes: hashList({ maxItems: reads.maxIds }) }),
    response: "casts",
    run: ({ reads }, { query }) => respondWithCasts(reads, query, query.hashes),
  }),
  read({
    id: "getCastsByHash",
    surface: "native",
    path: "/casts",
    price: perIds(5),
    summary: "The same as /cast/bulk under another parameter name",
    query: ({ reads }) => ({ casts: hashList({ maxItems: reads.maxIds }) }),
    response: "casts",
    run: ({ reads }, { query }) => respondWithCasts(reads, query, query.casts),
  }),
  read({
    id: "getCastsByHash",
    surface: "compat",
    path: "/casts",
    price: perIds(5),
    summary: "Casts by hash, in the requested order or sorted; unknown casts are omitted",
    description: "`trending` sorts by the sum of the likes, twice the recasts and three times the replies.",
    query: ({ reads }) => ({
      casts: hashList({ maxItems: reads.maxIds }),
      sort_type: optional(choice(CAST_SORTS)),
      viewer_fid: viewerFid(),
    }),
    response: BulkCastsResponse,
    run: ({ reads }, { query: { casts: hashes, sort_type: sort, viewer_fid: viewerFid } }) =>
      runQuery(
        reads,
        () => hashes,
        () => ({ hashes, viewerFid }),
        (_, hydration) =>
          presentBulkCasts(sort === undefined ? hashes : sortCasts(hashes, sort, hydration), hydration),
      ),
  }),
  read({
    id: "getCastQuotes",
    surface: "native",
    path: "/cast/quotes",
    price: perRows(5),
    summary: "Casts that quote a cast, newest first",
    query: {
      identifier: hash({ description: "The quoted cast" }),
      type: optional(choice(["hash"]), "hash"),
      ...page(),
    },
    response: "castPage",
    run: ({ reads }, { query }) => respondWithCastPage(reads, query, castQuotes, { hash: query.identifier }),
  }),
  read({
    id: "getCastQuotes",
    surface: "compat",
    path: "/cast/quotes",
    price: perRows(5),
    summary: "Casts that quote a cast, newest first",
    query: {
      identifier: text({ description: "The quoted cast: its hash, or its URL in a client" }),
      type: optional(choice(["hash", "url"]), "hash"),
      ...compatPage(),
    },
    response: CompatCastPage,
    run: ({ reads }, { query }) => {
      const find = castFinder(query.identifier, query.type);
      return respondWithCastPage(reads, query, castQuotes, (db) => ({ hash: find(db) }));
    },
  }),
  read({
    id: "getCastMetrics",
    surface: "native",
    path: "/cast/metrics",
    summary: "Number of casts over time",
    description: "Always empty.",
    query: { ...METRICS_QUERY, interval: optional(choice(INTERVALS)) },
    response: CastMetricsResponse,
    run: () => ({ metrics: [], next: { cursor: null } }),
  }),
  read({
    id: "getCastMetrics",
    surface: "compat",
    path: "/cast/metrics",
    price: flat(15),
    summary: "Number of casts over time",
    description:
      "Counts the casts that `/cast/search` finds for the same text, by hours (1d), six hours (7d), days (30d, 90d) or weeks " +
      `(180d), UTC. Counts the newest ${MAX_COUNTED} of them; with filters or phrases it examines ${MAX_SCANNED}.`,
    query: { ...METRICS_QUERY, interval: optional(choice(INTERVALS), "30d") },
    response: CompatCastMetricsResponse,
    notImplemented: WITHOUT_FULL_TEXT,
    run: ({ reads }, { query }) => {
      requireFullText(reads);
      const { q, interval, author_fid: authorFid, channel_id: channelId } = query;
      return runQuery(
        reads,
        (db) => castMetrics(db, { text: q, interval, authorFid, channelId, nowSecs: nowSecs(reads.clock) }),
        () => ({}),
        ({ parts, partSecs, isTruncated }) => ({
          metrics: parts.map(({ startsAt, casts }) => ({
            start: isoTime(startsAt),
            resolution_in_seconds: partSecs,
            cast_count: casts,
          })),
          truncated: isTruncated,
        }),
      );
    },
  }),
  read({
    id: "getCastConversationSummary",
    path: "/cast/conversation/summary",
    price: perRows(15),
    summary: "Summary of a conversation",
    description: "Always the same text, which says that summaries are not available.",
    response: "conversationSummary",
    run: ({ reads }) => reads.present.conversationSummary(),
  }),
];

export type ObjectTypeCheck = Assignable<
  ReturnType<typeof presentBulkCasts>,
  Static<typeof BulkCastsResponse>
>;
