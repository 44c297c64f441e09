import fc from "fast-check";
import type { EventFacts } from "../../src/webhooks/match/facts.ts";
import { readSubscription } from "../../src/webhooks/read-subscription.ts";
import type { Subscription } from "../../src/webhooks/subscription.ts";
import { expectOk } from "./result.ts";

/** Arbitrary subscriptions, and events that they often match. */

/** Few values, so that they often match. */
const fid = fc.integer({ min: 0, max: 5 });
const hash = fc.constantFrom("a", "b", "c", "d").map((digit): `0x${string}` => `0x${digit.repeat(40)}`);
const url = fc.constantFrom(
  "https://x.example/1",
  "https://y.example/gm",
  "chain://eip155:1/erc721:0x1",
  "é😀",
);
const word = fc.constantFrom(
  "gm",
  "GM",
  "degen",
  "ship it",
  "é",
  "😀",
  "ſ",
  "K",
  "\n",
  " ",
  "a",
  "aa",
  "$",
  "@",
  "0x1f",
);
const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(""));
const regex = fc.oneof(
  fc.constantFrom(
    "",
    "gm",
    "(?i)gm",
    "(?i)\\bgm\\b",
    "\\Bm",
    "^gm",
    "gm$",
    "(?m)^gm$",
    "\\Agm\\z",
    "^$",
    "(gm|degen)",
    "gm.*a",
    "(?s)gm.*a",
    "a{2}",
    "(a+)+$",
    "\\p{L}+",
    "[^a-z]",
    "(?i)s",
    "(?i)k",
    "\\$",
    "0x[0-9a-f]{2,}",
    "😀",
    "é+",
    ".",
    "x.example/\\d",
    "(?P<word>gm)",
    "\\Qa\\E",
    "zzz",
  ),
  // Distinct literals, so that there are more expressions than fit in one shard.
  text.map((literal) => `(?i)\\Q${literal}\\E`),
);
const some = <T>(entry: fc.Arbitrary<T>) => fc.array(entry, { maxLength: 3 });
const match = fc.constantFrom("all", "any");
const castFilter = fc.record(
  {
    match,
    author_fids: some(fid),
    exclude_author_fids: some(fid),
    mentioned_fids: some(fid),
    parent_urls: some(url),
    root_parent_urls: some(url),
    parent_hashes: some(hash),
    parent_author_fids: some(fid),
    text: regex,
    embeds: regex,
    embedded_cast_author_fids: some(fid),
    embedded_cast_hashes: some(hash),
  },
  { requiredKeys: [] },
);
/** Filters with all fields hardly ever match, so most have few fields. */
const fewFields = <T extends object>(filter: fc.Arbitrary<T>) =>
  fc.tuple(filter, fc.integer({ min: 0, max: 3 }), fc.nat()).map(([full, count, from]) => {
    const fields = Object.entries(full);
    return Object.fromEntries([...fields.slice(from % (fields.length + 1)), ...fields].slice(0, count));
  });
const followFilter = fc.record({ match, fids: some(fid), target_fids: some(fid) }, { requiredKeys: [] });
const reactionFilter = fc.record(
  { match, fids: some(fid), target_fids: some(fid), target_cast_hashes: some(hash) },
  { requiredKeys: [] },
);
const channelName = fc.constantFrom("books", "Books", `0x${"ab".repeat(32)}`);
const channelFilter = fc.record(
  { match, channel_ids: some(channelName), fids: some(fid), author_fids: some(fid) },
  { requiredKeys: [] },
);
/** Subscriptions in their normal form. */
export const someSubscription: fc.Arbitrary<Subscription> = fc
  .record(
    {
      cast_created: fc.oneof({ arbitrary: fewFields(castFilter), weight: 3 }, castFilter),
      "cast.deleted": fewFields(castFilter),
      follow_created: followFilter,
      "follow.deleted": followFilter,
      reaction_created: reactionFilter,
      "reaction.deleted": reactionFilter,
      user_created: fc.record({ match }, { requiredKeys: [] }),
      "user.updated": fc.record({ match, fids: some(fid) }, { requiredKeys: [] }),
      channel_member_added: channelFilter,
      "cast.moderated": channelFilter,
    },
    { requiredKeys: ["cast_created"] },
  )
  .map((input): Subscription => expectOk(readSubscription(input, "subscription")));

const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
export const someFacts: fc.Arbitrary<EventFacts> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom("cast.created" as const, "cast.created" as const, "cast.deleted" as const),
      authorFid: fid,
      mentionedFids: some(fid),
      parentUrl: nullable(url),
      rootParentUrl: nullable(url),
      parentHash: nullable(hash),
      parentAuthorFid: nullable(fid),
      text,
      embedUrls: some(url),
      embeddedCasts: some(fc.record({ fid, hash })),
    }),
  },
  fc.record({
    kind: fc.constantFrom("follow.created" as const, "follow.deleted" as const),
    fid,
    targetFid: fid,
  }),
  fc.record({
    kind: fc.constantFrom("reaction.created" as const, "reaction.deleted" as const),
    fid,
    targetFid: nullable(fid),
    targetHash: nullable(hash),
  }),
  fc.record({ kind: fc.constantFrom("user.created" as const, "user.updated" as const), fid }),
  fc.record({
    kind: fc.constantFrom("channel.member.added" as const, "cast.moderated" as const),
    channelIds: fc.array(channelName, { minLength: 1, maxLength: 2 }),
    fid: nullable(fid),
    actorFid: nullable(fid),
  }),
);
