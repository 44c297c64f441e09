import { Type } from "@sinclair/typebox";
import { ApiError } from "../../http/errors.ts";
import { perRows } from "../../http/limits/prices.ts";
import { choice, fid, optional, text } from "../../http/request/params.ts";
import { hashesOf } from "../../read/hydrate/hydrate.ts";
import { presentCastSearch } from "../../read/present/compat/cast.ts";
import { channelSearchCursor, searchChannels } from "../../read/queries/channels/channel-search.ts";
import {
  castSearch,
  castSearchCursor,
  filteredSearch,
  filteredSearchCursors,
} from "../../read/queries/search/cast-search.ts";
import { MAX_SCANNED } from "../../read/queries/search/search-scan.ts";
import {
  MAX_MATCHES,
  MAX_MOST_FOLLOWED,
  searchUsers,
  type UserMatch,
  userSearchCursor,
} from "../../read/queries/search/user-search.ts";
import { type ListRules, openListRules, ruledPage } from "../../read/rules/list-rules.ts";
import { type ReadSource, runQuery } from "../../read/run-query.ts";
import { CompatCastPage, compatPage } from "../dialects/compat.ts";
import { closed } from "../dialects/fields.ts";
import { page } from "../dialects/native.ts";
import {
  decodeCursor,
  respondWithCastPage,
  respondWithChannelPage,
  respondWithUserPage,
} from "../respond.ts";
import { topic } from "../topic.ts";

const { read } = topic();

const SearchResponse = Type.Object({ result: CompatCastPage }, closed);

const NO_FULL_TEXT = "the node does not index the words of casts (index.full_text)";

/** The 501 of operations that need the full-text index. */
const WITHOUT_FULL_TEXT = { when: "With `index.full_text = false`.", message: NO_FULL_TEXT } as const;

export const searchOperations = [
  read({
    id: "searchUsers",
    path: "/user/search",
    tag: "Users",
    price: perRows(15),
    summary: "Users whose name starts with a text, ignoring case",
    description:
      "The exact username first, then usernames with the prefix by number of followers, then users with a matching " +
      "word in their display name, also by number of followers; each user once. If more than " +
      `${MAX_MATCHES} names or words match, the search covers the first ${MAX_MATCHES} of them in alphabetical order and the ` +
      `${MAX_MOST_FOLLOWED} most followed users of the network.`,
    query: {
      q: text({ description: "A leading @ is ignored", examples: ["user"] }),
      ...page(),
    },
    response: "userSearch",
    run: ({ reads }, { query }) =>
      respondWithUserPage(
        reads,
        query,
        userSearchCursor,
        (db, page) => searchUsers(db, reads.cache, { text: query.q, ...page }),
        { present: reads.present.userSearch, select: exactNameOrShown },
      ),
  }),
  read({
    id: "searchCasts",
    surface: "native",
    path: "/cast/search",
    tag: "Casts",
    price: perRows(15),
    summary: "Casts whose text contains every word, newest first",
    query: {
      q: text({
        description: "Any text. Every word must match, the last one as a prefix; quotes form a phrase.",
        examples: ["gm"],
      }),
      ...page(),
    },
    response: "castPage",
    notImplemented: WITHOUT_FULL_TEXT,
    run: ({ reads }, { query }) => {
      requireFullText(reads);
      return respondWithCastPage(reads, query, castSearchCursor, (db, page) =>
        castSearch(db, { text: query.q, ...page }),
      );
    },
  }),
  read({
    id: "searchCasts",
    surface: "compat",
    path: "/cast/search",
    tag: "Casts",
    price: perRows(15),
    summary: "Casts whose text contains every word, by time",
    description:
      "Every word must match, the last one as a prefix; quotes form a phrase; `before:2025-04-20` " +
      "and `after:2025-04-20T12:00:00` (UTC) limit the time range. There are no other operators, and `algorithmic` is " +
      `\`desc_chron\`. With filters, a page examines ${MAX_SCANNED} casts; if few of them match, it may be ` +
      "short, or empty, before the end.",
    query: {
      q: text({ examples: ["gm"] }),
      sort_type: optional(choice(["desc_chron", "chron", "algorithmic"]), "desc_chron"),
      author_fid: optional(fid()),
      parent_url: optional(text({ description: "Only casts directly under this URL" })),
      channel_id: optional(text({ description: "Only casts directly in this channel" })),
      ...compatPage(),
    },
    response: SearchResponse,
    notImplemented: WITHOUT_FULL_TEXT,
    run: ({ reads }, { query }) => {
      requireFullText(reads);
      const order = query.sort_type === "chron" ? "chron" : "desc_chron";
      const cursor = filteredSearchCursors[order];
      const after = decodeCursor(cursor, query.cursor);
      return runQuery(
        reads,
        (db) => {
          const rules = openListRules(db, { viewerFid: query.viewer_fid });
          return ruledPage(
            rules,
            { limit: query.limit, after, cursor },
            (page) =>
              filteredSearch(db, {
                text: query.q,
                order,
                authorFid: query.author_fid,
                parentUrl: query.parent_url,
                channelId: query.channel_id,
                ...page,
              }),
            ({ casts }) => casts,
          );
        },
        ({ rows }) => ({ castIds: rows.map(({ id }) => id), viewerFid: query.viewer_fid }),
        ({ rows, cursor }, hydration) =>
          presentCastSearch({ rows: hashesOf(rows, hydration).map((hash) => ({ hash })), cursor }, hydration),
      );
    },
  }),
  read({
    id: "searchChannels",
    path: "/channel/search",
    tag: "Channels",
    price: perRows(5),
    summary: "Channels whose id or name starts with a text, most members first",
    query: { q: text({ description: "Case-insensitive" }), ...page() },
    response: "channelPage",
    run: ({ reads }, { query }) =>
      respondWithChannelPage(reads, query, channelSearchCursor, (db, page) =>
        searchChannels(db, { text: query.q, ...page }),
      ),
  }),
];

/** Shows the user of the exact name also to a viewer who blocks or mutes them: else the viewer could not find them to change that. */
const exactNameOrShown =
  ({ accounts, isHiddenByViewer }: ListRules) =>
  (rows: readonly UserMatch[]): readonly UserMatch[] => {
    const shown = new Set(accounts(rows));
    return rows.filter((row) => shown.has(row) || (row.tier === 0 && isHiddenByViewer(row.fid)));
  };

/** @throws ApiError `notImplemented` when the node has no full-text index. */
function requireFullText({ fullText }: Pick<ReadSource, "fullText">): void {
  if (!fullText) throw new ApiError("notImplemented", NO_FULL_TEXT);
}
