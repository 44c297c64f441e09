import { perRows } from "../../http/limits/prices.ts";
import { choice, fid, optional, text } from "../../http/request/params.ts";
import { hashesOf } from "../../read/hydrate/hydrate.ts";
import { presentCastSearch } from "../../read/present/compat/cast.ts";
import { searchChannels } from "../../read/queries/channels/channel-search.ts";
import { castSearch, filteredSearch, filteredSearchCursors } from "../../read/queries/search/cast-search.ts";
import { MAX_WORDS } from "../../read/queries/search/people-match.ts";
import { MAX_SCANNED } from "../../read/queries/search/search-scan.ts";
import {
  MAX_MATCHES,
  MAX_MOST_FOLLOWED,
  searchUsers,
  type UserMatch,
  userSearchCursor,
} from "../../read/queries/search/user-search.ts";
import { type ListRules, openListRules, ruledPage } from "../../read/rules/list-rules.ts";
import { type Reads, runQuery } from "../../read/run-query.ts";
import { CompatCastPage, compatPage } from "../dialects/compat.ts";
import { object } from "../dialects/fields.ts";
import { page } from "../dialects/native.ts";
import { decodeCursor, type PageQuery, respondWithCastPage, respondWithChannelPage } from "../respond.ts";
import { topic } from "../topic.ts";
import { requireFullText, WITHOUT_FULL_TEXT } from "./full-text.ts";

const { read } = topic();

const SearchResponse = object({ result: CompatCastPage });

const SEARCH_USERS = {
  path: "/user/search",
  tag: "Users",
  price: perRows(15),
  response: "userSearch",
} as const;

const SEARCHED_TEXT = text({
  description: "A leading @ and a final .eth are ignored",
  examples: ["user"],
});

const HOW_WORDS_MATCH =
  `Every word of the text, up to ${MAX_WORDS}, is the start of a word of the user, whatever the case and the diacritics: ` +
  "`jose mu` finds José Müller.";

const HOW_USERS_ARE_ORDERED =
  "The exact username comes first, then usernames that start with the text or have all words, then display names with all " +
  "words. Within these, users that the viewer follows come first, then those with a higher score where the node has scores, " +
  `then those with more followers. If more than ${MAX_MATCHES} users match, the search covers the first ${MAX_MATCHES} of ` +
  `them by fid and the ${MAX_MOST_FOLLOWED} most followed users of the network.`;

function respondWithUsers(
  reads: Reads,
  query: PageQuery & { readonly q: string },
  { inNames }: { readonly inNames: boolean },
): object {
  const { q, limit, viewer_fid: viewerFid } = query;
  const after = decodeCursor(userSearchCursor, query.cursor);
  return runQuery(
    reads,
    (db) => {
      const rules = openListRules(reads, { viewerFid });
      const pageOf = searchUsers(db, reads.cache, { text: q, inNames, viewerFid });
      return ruledPage(rules, { limit, after, cursor: userSearchCursor }, pageOf, exactNameOrShown);
    },
    ({ rows }) => ({ fids: rows.map(({ fid }) => fid), viewerFid }),
    reads.present.userSearch,
  );
}

export const searchOperations = [
  read({
    id: "searchUsers",
    surface: "native",
    ...SEARCH_USERS,
    summary: "Users by words of their username and display name",
    description: `${HOW_WORDS_MATCH} ${HOW_USERS_ARE_ORDERED}`,
    query: { q: SEARCHED_TEXT, ...page() },
    run: ({ reads }, { query }) => respondWithUsers(reads, query, { inNames: true }),
  }),
  read({
    id: "searchUsers",
    surface: "compat",
    ...SEARCH_USERS,
    summary: "Users by words of their username, display name and bio",
    description:
      `${HOW_WORDS_MATCH} The words may be in the bio, too, and a number is also an fid: its user comes after the ` +
      `exact username, users by their bio come last. ${HOW_USERS_ARE_ORDERED}`,
    query: { q: SEARCHED_TEXT, ...compatPage() },
    run: ({ reads }, { query }) => respondWithUsers(reads, query, { inNames: false }),
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
      return respondWithCastPage(reads, query, castSearch, { text: query.q });
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
          const rules = openListRules(reads, { viewerFid: query.viewer_fid });
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
    run: ({ reads }, { query }) => respondWithChannelPage(reads, query, searchChannels, { text: query.q }),
  }),
];

/**
 * Shows the user with the exact name even to a viewer who blocks or mutes them: otherwise the viewer could not find them to change that.
 */
const exactNameOrShown =
  ({ accounts, isHiddenByViewer }: ListRules) =>
  (rows: readonly UserMatch[]): readonly UserMatch[] => {
    const shown = new Set(accounts(rows));
    return rows.filter((row) => shown.has(row) || (row.tier === 0 && isHiddenByViewer(row.fid)));
  };
