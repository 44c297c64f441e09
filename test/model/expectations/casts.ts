import {
  type Expectation,
  type ExpectationContext,
  found,
  list,
  one,
  refused,
  UNKNOWN_FIDS,
} from "../expectation.ts";
import type { Hex } from "../facts.ts";
import { type LiveCast, newestFirst, type View } from "../view.ts";
import { CLAIMED_NAMES, FNAMES, WORDS } from "../vocabulary.ts";
import { nameHolder } from "./users.ts";

const UNKNOWN_HASH: Hex = `0x${"ab".repeat(20)}`;

/** Section 4.5. `hashes` are the hashes of generated casts, live or not. */
export function castExpectations(
  { view, random }: ExpectationContext,
  hashes: readonly Hex[],
): Expectation[] {
  const some = [...random.sample(hashes, 8), UNKNOWN_HASH];
  return [
    ...some.flatMap((hash) => byHash(view, hash, random.below(12) + 1)),
    ...bulk(view, some),
    ...some.flatMap((hash) => byUrl(view, hash)),
    ...[...some, ...mostAnswered(view)].flatMap((hash) => [...conversations(view, hash), quotes(view, hash)]),
    ...searches(view, [...random.sample(QUERIES, 12), ...random.sample(WORDS, 4)]),
    refused("/cast", { identifier: "0x12" }, 400),
    refused("/cast", { identifier: "nonsense", type: "url" }, 400),
    one("/cast/metrics", { q: "gm" }, { metrics: [], next: { cursor: null } }),
    one(
      "/cast/metrics",
      { q: "gm", interval: "7d", author_fid: 3, channel_id: "books" },
      { metrics: [], next: { cursor: null } },
    ),
    one("/cast/embed/crawl", {}, { metadata: null }),
    // The specification does not define the text.
    one("/cast/conversation/summary", {}, ({ summary }: { summary: unknown }) =>
      /summar/i.test(String(summary)),
    ),
  ];
}

const shown = (view: View, cast: LiveCast | undefined) => (cast ? view.cast(cast) : undefined);

function byHash(view: View, hash: Hex, otherFid: number): Expectation[] {
  const cast = view.castByHash.get(hash);
  const author = cast?.fid ?? 1;
  return [
    found("/cast", { identifier: hash }, "cast", shown(view, cast)),
    found(
      "/cast",
      { identifier: `0x${hash.slice(2).toUpperCase()}`, type: "hash" },
      "cast",
      shown(view, cast),
    ),
    found("/cast", { identifier: hash, fid: author }, "cast", shown(view, cast)),
    found(
      "/cast",
      { identifier: hash, fid: otherFid },
      "cast",
      cast?.fid === otherFid ? shown(view, cast) : undefined,
    ),
    found("/cast", { identifier: hash, fid: UNKNOWN_FIDS[0] }, "cast", undefined),
  ];
}

function bulk(view: View, hashes: readonly Hex[]): Expectation[] {
  const requested = [...hashes, ...hashes.slice(0, 3)].join(",");
  const casts = [...new Set(hashes)].flatMap((hash) => shown(view, view.castByHash.get(hash)) ?? []);
  return [
    one("/cast/bulk", { hashes: requested }, { casts }),
    one("/casts", { casts: requested }, { casts }),
  ];
}

function byUrl(view: View, hash: Hex): Expectation[] {
  const cast = view.castByHash.get(hash);
  const names = [
    cast ? view.usernameOf(cast.fid) : "user1",
    ...FNAMES.slice(0, 1),
    ...CLAIMED_NAMES.slice(0, 1),
  ];
  const prefix = hash.slice(0, 10);
  const underName = names.flatMap((name) => {
    const holder = nameHolder(view, name);
    const newest = view.casts
      .filter((one) => one.fid === holder && one.hash.startsWith(prefix))
      .sort((a, b) => newestFirst(a, b))[0];
    if (name.startsWith("!")) return [];
    return ["https://warpcast.com", "https://farcaster.xyz"].map((host) =>
      found("/cast", { identifier: `${host}/${name}/${prefix}`, type: "url" }, "cast", shown(view, newest)),
    );
  });
  const conversation = `https://warpcast.com/~/conversations/${hash}`;
  return [...underName, found("/cast", { identifier: conversation, type: "url" }, "cast", shown(view, cast))];
}

function mostAnswered(view: View): Hex[] {
  return [...view.casts]
    .sort((a, b) => view.repliesTo(b).length - view.repliesTo(a).length)
    .slice(0, 4)
    .map(({ hash }) => hash);
}

function conversations(view: View, hash: Hex): Expectation[] {
  const cast = view.castByHash.get(hash);
  const answer = (identifier: string, type: string, replyDepth: number | undefined) => {
    const params = { identifier, type, reply_depth: replyDepth };
    return cast
      ? one("/cast/conversation", params, withReplies(view, cast, replyDepth ?? 2))
      : refused("/cast/conversation", params, 404);
  };
  return [
    ...[undefined, 0, 1, 5].map((depth) => answer(hash, "hash", depth)),
    answer(`https://farcaster.xyz/~/conversations/${hash}`, "url", 1),
  ];
}

/** The 50 oldest replies of each cast. A small network never reaches the limit of 500 in all. */
function withReplies(view: View, cast: LiveCast, depth: number): unknown {
  const oldestFirst = view.repliesTo(cast).sort((a, b) => newestFirst(b, a));
  return {
    cast: view.cast(cast),
    replies: depth === 0 ? [] : oldestFirst.slice(0, 50).map((reply) => withReplies(view, reply, depth - 1)),
  };
}

function quotes(view: View, hash: Hex): Expectation {
  const quoted = view.castByHash.get(hash);
  const quoting = view.casts
    .filter(({ embeds }) =>
      embeds.some((embed) => "hash" in embed && embed.hash === hash && embed.fid === quoted?.fid),
    )
    .sort((a, b) => newestFirst(a, b));
  return list(["/cast/quotes"], { identifier: hash }, { casts: quoting.map((cast) => view.cast(cast)) });
}

// biome-ignore format: a list of queries
const QUERIES = [
  "hel", "hello", "help hello", "hello wor", '"ship it"', '"it ship"', "it ship", "日本", "日本語", "本語", "京", "東京タワー",
  "今日", "は東", "こんに", "안녕", "สวัส", "unicode", "ÜNÏCODE", "strasse", "straße", "naive", "don't", "c++", "C", "🚀", "one", "one-two", "two",
  "a.b", "NOT", "NOT hello", "gm OR hello", "hello*", '"', '"unclosed phrase', "(", "NEAR(gm hello)", "text:gm", "-gm", "^gm", "nothinglikeit", "***", "{", "gm", "Gm ", "42",
] as const;

/** The words of a text in any script: runs of letters and digits, or one character of a script without spaces. */
export function wordsOf(text: string): string[] {
  const folded = text
    .normalize("NFD")
    .replace(/\p{M}/gu, (mark) => (/\p{Script=Thai}/u.test(mark) ? mark : ""))
    .toLowerCase();
  return (
    folded.match(
      /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]\p{M}*|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}])[\p{L}\p{N}])+/gu,
    ) ?? []
  );
}

function searches(view: View, queries: readonly string[]): Expectation[] {
  return queries.map((q) => {
    const casts = view.casts.filter((cast) => matches(cast.text, q)).sort((a, b) => newestFirst(a, b));
    return list(["/cast/search"], { q }, { casts: casts.map((cast) => view.cast(cast)) });
  });
}

/** Every word must match, the last as a prefix; quoted words are a phrase, and so is a word with several tokens. */
export function matches(text: string, q: string): boolean {
  const inText = wordsOf(text);
  const parts = [...q.matchAll(/"([^"]*)"?|[^\s"]+/g)].map((match) => ({
    words: wordsOf(match[1] ?? match[0]),
    isQuoted: match[1] !== undefined,
  }));
  const wanted = parts.filter(({ words }) => words.length > 0);
  if (wanted.length === 0) return false;
  return wanted.every(({ words, isQuoted }, index) => {
    const isPrefix = index === wanted.length - 1 && !isQuoted;
    return inText.some((_, at) =>
      words.every((word, offset) => {
        const there = inText[at + offset];
        const isLast = offset === words.length - 1;
        return isPrefix && isLast ? there?.startsWith(word) : there === word;
      }),
    );
  });
}
