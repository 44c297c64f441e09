import { Type } from "@sinclair/typebox";
import { perRows } from "../../../http/limits/prices.ts";
import { cursor, limit, text } from "../../../http/request/params.ts";
import { presentUserDehydrated } from "../../../read/present/compat/user.ts";
import { rankedTopics, rankingCursors } from "../../../read/queries/feeds/ranking.ts";
import { topicCasts } from "../../../read/queries/search/cast-search.ts";
import { runQuery } from "../../../read/run-query.ts";
import { nowSecs } from "../../../runtime/clock.ts";
import { CompatCastPage, compatPage } from "../../dialects/compat.ts";
import { UserDehydrated } from "../../dialects/compat-objects.ts";
import { Next, object } from "../../dialects/fields.ts";
import { decodeCursor, respondWithCastPage } from "../../respond.ts";
import { topic } from "../../topic.ts";
import { requireFullText, WITHOUT_FULL_TEXT } from "../full-text.ts";

const { read } = topic({ tag: "Feeds", surface: "compat" });

const TOPICS_PER_PAGE = 10;
const MAX_AGE_SECS = 48 * 3600;
const MAX_WORDS = 2;

const TopicsResponse = object({
  topics: Type.Array(
    object({
      name: Type.String({ description: "A word or two that more authors use than in the days before" }),
      slug: Type.String({ description: "The words with `_` between them, for `/feed/topic`" }),
      summary: Type.Null(),
      top_level_topic: Type.Literal("other_hobbies", {
        description:
          "Always the same: topics are not classified, and clients of the hosted API expect a class",
      }),
      authors: Type.Array(UserDehydrated, { maxItems: 5 }),
    }),
  ),
  next: Next,
});

export const topicOperations = [
  read({
    id: "getTrendingTopics",
    path: "/topic/trending",
    price: perRows(5),
    summary: "Words that more people write than in the days before",
    description:
      "Counted each hour over the 24 hours before it, and compared with the seven days before these: words and pairs of words by their distinct " +
      "authors, at least 10, each weighted by the score where there are scores. Links, mentions and common words do not count.",
    query: { limit: limit(TOPICS_PER_PAGE), cursor: cursor() },
    response: TopicsResponse,
    run: ({ reads }, { query }) => {
      const after = decodeCursor(rankingCursors.topics, query.cursor);
      return runQuery(
        reads,
        (db) => rankedTopics(db, { limit: query.limit, after }),
        ({ rows }) => ({ fids: new Set(rows.flatMap(({ authors }) => authors)) }),
        ({ rows, cursor }, hydration) => ({
          topics: rows.map(({ name, authors }) => ({
            name,
            slug: name.replaceAll(" ", "_"),
            summary: null,
            top_level_topic: "other_hobbies",
            authors: authors.flatMap((fid) => presentUserDehydrated(fid, hydration) ?? []),
          })),
          next: { cursor },
        }),
      );
    },
  }),
  read({
    id: "getFeedByTopic",
    path: "/feed/topic",
    price: perRows(15),
    summary: "Casts of the last 48 hours with the words of a topic, newest first",
    query: { slug: text({ description: "Of `/topic/trending`", maxChars: 64 }), ...compatPage() },
    response: CompatCastPage,
    notImplemented: WITHOUT_FULL_TEXT,
    run: ({ reads }, { query }) => {
      requireFullText(reads);
      const words = query.slug
        .toLowerCase()
        .split("_")
        .filter((word) => /^[\p{L}\p{M}\p{N}]+$/u.test(word))
        .slice(0, MAX_WORDS);
      const since = nowSecs(reads.clock) - MAX_AGE_SECS;
      return respondWithCastPage(reads, query, topicCasts, { words, since });
    },
  }),
];
