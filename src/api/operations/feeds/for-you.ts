import { type Static, Type } from "@sinclair/typebox";
import { perRows } from "../../../http/limits/prices.ts";
import { fid, optional } from "../../../http/request/params.ts";
import type { Page } from "../../../read/cursor.ts";
import type { CastRef } from "../../../read/hydrate/casts.ts";
import { type Hydration, hashesOf } from "../../../read/hydrate/hydrate.ts";
import { compatPresenters } from "../../../read/present/compat/presenters.ts";
import { ActKind } from "../../../read/queries/feeds/act-snapshot.ts";
import { type ForYouRow, forYouCursor, forYouPage, reasonsOf } from "../../../read/queries/feeds/for-you.ts";
import type { Reason } from "../../../read/queries/feeds/for-you-ranking.ts";
import { rankedCasts, rankingCursors } from "../../../read/queries/feeds/ranking.ts";
import { openListRules, ruledPage } from "../../../read/rules/list-rules.ts";
import { runQuery } from "../../../read/run-query.ts";
import { compatPage } from "../../dialects/compat.ts";
import { compatCastFields } from "../../dialects/compat-objects.ts";
import { Count, Fid, Next, object } from "../../dialects/fields.ts";
import { decodeCursorOfEither } from "../../respond.ts";
import { topic } from "../../topic.ts";
import { respondWithTrending } from "./trending.ts";

const { read } = topic({ tag: "Feeds", price: perRows(20), surface: "compat" });

const KINDS = {
  [ActKind.Recast]: "recasted_by",
  [ActKind.Reply]: "replied_by",
  [ActKind.Quote]: "quoted_by",
  [ActKind.Like]: "liked_by",
  [ActKind.Cast]: "by_followed",
} as const;
const WORDS = { recasted_by: "Recasted", replied_by: "Replied to", quoted_by: "Quoted", liked_by: "Liked" };

const ForYouReason = object(
  {
    kind: Type.Union([...Object.values(KINDS), "trending" as const].map((kind) => Type.Literal(kind))),
    fids: Type.Array(Fid, { description: "Those whose acts count most, at most three" }),
    count: Count,
    text: Type.String(),
  },
  { $id: "ForYouReason", description: "Why the viewer is shown the cast" },
);
const ForYouCast = object(
  { ...compatCastFields, reason: Type.Optional(ForYouReason) },
  { $id: "FarcasterForYouCast" },
);
const ForYouPage = object({ casts: Type.Array(ForYouCast), next: Next });

/** A page; without reasons if it is from the trending feed. */
interface Found extends Page<CastRef> {
  readonly reasons: ReadonlyMap<number, Reason> | undefined;
}
const NO_REASONS: ReadonlyMap<number, Reason> = new Map();

export const forYouOperations = [
  read({
    id: "getFeedForYou",
    path: "/feed/for_you",
    summary: "What the people that a viewer follows did lately, with a reason for each cast",
    description:
      "Ranked every five minutes by what the viewer's follows posted, liked, recasted, replied to and quoted within two days, then trending casts. " +
      "All pages of a cursor belong to one ranking for a quarter of an hour. Without a viewer, for a viewer without follows, and where `feeds.for_you` is " +
      "`trending`, it is the trending feed without reasons.",
    query: {
      fid: optional(fid({ description: "The viewer, if `viewer_fid` is not given" })),
      ...compatPage(),
    },
    response: ForYouPage,
    async run({ reads, forYou }, { query: { fid: ofFid, ...query } }) {
      const viewerFid = query.viewer_fid ?? ofFid;
      const asked = { ...query, viewer_fid: viewerFid };
      if (viewerFid === undefined || !forYou) return respondWithTrending(reads, asked);
      const { a: after, b: trendingAfter } = decodeCursorOfEither(
        [forYouCursor, rankingCursors.casts],
        query.cursor,
      );
      if (trendingAfter) return respondWithTrending(reads, asked);
      const newest = await forYou.newest();
      const snapshot = (after && forYou.of(after[0])) ?? newest;
      const { limit } = query;
      return runQuery(
        reads,
        (db): Found => {
          const rules = openListRules(reads, { viewerFid });
          const list = snapshot && forYou.lists.listOf(reads, snapshot, viewerFid);
          if (!list && !after) {
            const page = { limit, after: undefined, cursor: rankingCursors.casts };
            const find = (part: Parameters<typeof rankedCasts>[1]): Page<CastRef> => rankedCasts(db, part);
            return { ...ruledPage(rules, page, find, (some) => some.casts), reasons: undefined };
          }
          // A pagination that has reached the end of the list continues with the trending casts of its time.
          const generation = after?.[2] === 1 ? after[0] : (snapshot?.generation ?? after?.[0] ?? 0);
          const { rows, cursor } = ruledPage(
            rules,
            { limit, after, cursor: forYouCursor },
            (part): Page<ForYouRow> => forYouPage(db, list, { generation, ...part }),
            (some) => some.casts<ForYouRow>,
          );
          return { rows, cursor, reasons: reasonsOf(list, rows) };
        },
        ({ rows, reasons = NO_REASONS }) => ({
          castIds: rows.map(({ id }) => id),
          fids: [...reasons.values()].flatMap((reason) => reason.fids),
          viewerFid,
        }),
        ({ rows, cursor, reasons }, hydration) => {
          const shown = hashesOf(rows, hydration).map((hash) => ({ hash }));
          const page = compatPresenters.castPage({ rows: shown, cursor }, hydration);
          if (!reasons) return page;
          const reasonOf = new Map(
            rows.map(({ id }) => [hydration.castsById.get(id)?.hash, reasons.get(id)] as const),
          );
          const casts = page.casts.map((cast) => ({
            ...cast,
            reason: presentReason(reasonOf.get(cast.hash), hydration),
          }));
          return { ...page, casts };
        },
      );
    },
  }),
];

function presentReason(reason: Reason | undefined, { users }: Hydration): Static<typeof ForYouReason> {
  if (!reason) return { kind: "trending", fids: [], count: 0, text: "Trending" };
  const { fids, count, isFollowed } = reason;
  const kind = KINDS[reason.kind];
  if (kind === "by_followed")
    return {
      ...{ kind, fids: [...fids], count },
      text: isFollowed ? "From someone you follow" : "Followed by people you follow",
    };
  const names = fids.map((one) => users.get(one)?.username ?? `!${one}`);
  const others = count - names.length;
  const all = others > 0 ? [...names, others === 1 ? "1 other" : `${others} others`] : names;
  const text = all.length === 1 ? all[0] : `${all.slice(0, -1).join(", ")} and ${all.at(-1)}`;
  return { kind, fids: [...fids], count, text: `${WORDS[kind]} by ${text}` };
}
