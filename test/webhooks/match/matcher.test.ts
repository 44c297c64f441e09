import { describe, expect, test } from "bun:test";
import type { CastFacts, EventFacts } from "../../../src/webhooks/match/facts.ts";
import { createMatcher } from "../../../src/webhooks/match/matcher.ts";
import { readSubscription } from "../../../src/webhooks/read-subscription.ts";
import { expectOk } from "../../support/result.ts";

const hashOf = (digit: string): `0x${string}` => `0x${digit.repeat(40)}`;
const [A, B] = [hashOf("a"), hashOf("b")];
const DEV = "https://farcaster.xyz/~/channel/dev";
const ART = "chain://eip155:1/erc721:0xa1";

/** A reply of 3 to a cast of 4 in the channel, which mentions 5, quotes a cast of 6 and links a page. */
const reply: CastFacts = {
  kind: "cast.created",
  authorFid: 3,
  mentionedFids: [5],
  parentUrl: null,
  rootParentUrl: DEV,
  parentHash: A,
  parentAuthorFid: 4,
  text: "gm @five, look at this",
  embedUrls: ["https://zora.example/mint/1", "https://x.example"],
  embeddedCasts: [{ fid: 6, hash: B }],
};
/** A cast of 3 in the channel with only text. */
const post: CastFacts = {
  kind: "cast.created",
  authorFid: 3,
  mentionedFids: [],
  parentUrl: DEV,
  rootParentUrl: DEV,
  parentHash: null,
  parentAuthorFid: null,
  text: "Shipped.",
  embedUrls: [],
  embeddedCasts: [],
};
const follow: EventFacts = { kind: "follow.created", fid: 3, targetFid: 4 };
const reaction: EventFacts = { kind: "reaction.created", fid: 3, targetFid: 4, targetHash: A };
const likeOfUrl: EventFacts = { kind: "reaction.created", fid: 3, targetFid: null, targetHash: null };
const user: EventFacts = { kind: "user.updated", fid: 3 };

/** Returns whether a webhook with the subscription, in the form of a request, matches the event. */
function isMatched(input: object, facts: EventFacts): boolean {
  const subscription = expectOk(readSubscription(input, "subscription"));
  const matcher = createMatcher();
  expect(matcher.set("webhook", subscription)).toBeUndefined();
  const matched = matcher.match(facts);
  expect(matched).toEqual(matched.length > 0 ? ["webhook"] : []);
  return matched.length > 0;
}

type Case = [filter: object, isMatch: boolean];

test("a minimum score counts where scores do, in both modes, and an author with it matches", () => {
  const matches = (filter: object, authorScore: number | undefined) => {
    const matcher = createMatcher();
    matcher.set("webhook", { "cast.created": { minimum_author_score: 0.5, ...filter } });
    return matcher.match({ ...reply, authorScore }).length > 0;
  };
  for (const filter of [{}, { match: "any", author_fids: [3] }, { text: "gm" }]) {
    expect([undefined, 0.49, 0.5, 1].map((score) => matches(filter, score))).toEqual([
      true,
      false,
      true,
      true,
    ]);
  }
});

describe("a reply matches the filter", () => {
  test.each<Case>([
    [{}, true],
    [{ author_fids: [9, 3] }, true],
    [{ author_fids: [4, 5, 6] }, false],
    [{ author_fids: [] }, true],
    [{ exclude_author_fids: [3] }, false],
    [{ exclude_author_fids: [4] }, true],
    [{ mentioned_fids: [9, 5] }, true],
    [{ mentioned_fids: [3, 4, 6] }, false],
    [{ parent_urls: [DEV] }, false],
    [{ root_parent_urls: [ART, DEV] }, true],
    [{ root_parent_urls: [ART] }, false],
    [{ parent_hashes: [B, A] }, true],
    [{ parent_hashes: [A.toUpperCase().replace("0X", "0x")] }, true],
    [{ parent_hashes: [B] }, false],
    [{ parent_author_fids: [4] }, true],
    [{ parent_author_fids: [3, 5, 6] }, false],
    [{ text: "" }, true],
    [{ text: "look" }, true],
    [{ text: "LOOK" }, false],
    [{ text: "(?i)LOOK" }, true],
    [{ text: "^gm.*this$" }, true],
    [{ text: "@five\\b" }, true],
    [{ text: "zora" }, false],
    [{ embeds: "" }, true],
    [{ embeds: "zora\\.example/mint" }, true],
    [{ embeds: "^https://x\\.example$" }, true],
    [{ embeds: "1https" }, false],
    [{ embeds: "gm" }, false],
    [{ embedded_cast_author_fids: [6] }, true],
    [{ embedded_cast_author_fids: [3, 4, 5] }, false],
    [{ embedded_cast_hashes: [B] }, true],
    [{ embedded_cast_hashes: [A] }, false],
  ])("%j: %p", (filter, isMatch) => {
    expect(isMatched({ cast_created: filter }, reply)).toBe(isMatch);
    expect(isMatched({ "cast.deleted": filter }, { ...reply, kind: "cast.deleted" })).toBe(isMatch);
  });
});

describe("a plain post in a channel matches the filter", () => {
  test.each<Case>([
    [{ parent_urls: [ART, DEV] }, true],
    [{ parent_urls: [ART] }, false],
    [{ parent_urls: [`${DEV}/`] }, false],
    [{ root_parent_urls: [DEV] }, true],
    [{ mentioned_fids: [3] }, false],
    [{ parent_hashes: [A] }, false],
    [{ parent_author_fids: [3] }, false],
    [{ embeds: "" }, false],
    [{ embeds: "", match: "any" }, false],
    [{ embedded_cast_author_fids: [3] }, false],
    [{ embedded_cast_hashes: [A] }, false],
  ])("%j: %p", (filter, isMatch) => {
    expect(isMatched({ "cast.created": filter }, post)).toBe(isMatch);
  });
});

describe("two fields match when both hold, or with match: any when one holds", () => {
  const holding: Record<string, unknown> = {
    author_fids: [3],
    mentioned_fids: [5],
    root_parent_urls: [DEV],
    parent_hashes: [A],
    parent_author_fids: [4],
    text: "look",
    embeds: "zora",
    embedded_cast_author_fids: [6],
    embedded_cast_hashes: [B],
  };
  const failing: Record<string, unknown> = {
    author_fids: [4],
    mentioned_fids: [4],
    root_parent_urls: [ART],
    parent_urls: [DEV],
    parent_hashes: [B],
    parent_author_fids: [3],
    text: "zora",
    embeds: "look",
    embedded_cast_author_fids: [5],
    embedded_cast_hashes: [A],
  };
  test.each(Object.keys(failing))("%s", (field) => {
    for (const other of Object.keys(failing)) {
      if (other === field) continue;
      for (const match of [undefined, "all", "any"]) {
        const input = (fields: object) => ({ cast_created: { ...fields, ...(match && { match }) } });
        const failed = { [field]: failing[field] };
        const pair = (values: Record<string, unknown>) => ({ ...failed, [other]: values[other] });
        if (other in holding) expect(isMatched(input(pair(holding)), reply)).toBe(match === "any");
        expect(isMatched(input(pair(failing)), reply)).toBe(false);
        if (!(field in holding) || !(other in holding)) continue;
        const both = { [field]: holding[field], [other]: holding[other] };
        expect(isMatched(input(both), reply)).toBe(true);
      }
    }
  });
});

describe("exclusions override other conditions", () => {
  test.each<Case>([
    [{ exclude_author_fids: [3], match: "any" }, false],
    [{ exclude_author_fids: [4], match: "any" }, true],
    [{ exclude_author_fids: [3], author_fids: [3] }, false],
    [{ exclude_author_fids: [3], author_fids: [3], match: "any" }, false],
    [{ exclude_author_fids: [3], text: "look", match: "any" }, false],
    [{ exclude_author_fids: [4], text: "look", match: "any" }, true],
    [{ exclude_author_fids: [4], text: "zora", match: "any" }, false],
    [{ exclude_author_fids: [4], text: "zora" }, false],
  ])("%j: %p", (filter, isMatch) => {
    expect(isMatched({ cast_created: filter }, reply)).toBe(isMatch);
  });
});

describe("follows, reactions and users", () => {
  test.each<[object, EventFacts, boolean]>([
    [{ follow_created: {} }, follow, true],
    [{ follow_created: { fids: [3] } }, follow, true],
    [{ follow_created: { fids: [4] } }, follow, false],
    [{ follow_created: { target_fids: [4] } }, follow, true],
    [{ follow_created: { target_fids: [3] } }, follow, false],
    [{ follow_created: { fids: [3], target_fids: [3] } }, follow, false],
    [{ follow_created: { fids: [3], target_fids: [3], match: "any" } }, follow, true],
    [{ "follow.deleted": { target_fids: [4] } }, { ...follow, kind: "follow.deleted" }, true],
    [{ reaction_created: {} }, likeOfUrl, true],
    [{ reaction_created: { fids: [3] } }, likeOfUrl, true],
    [{ reaction_created: { target_fids: [0, 3, 4] } }, likeOfUrl, false],
    [{ reaction_created: { target_cast_hashes: [A] } }, likeOfUrl, false],
    [{ reaction_created: { fids: [4] } }, reaction, false],
    [{ reaction_created: { target_fids: [4] } }, reaction, true],
    [{ reaction_created: { target_fids: [3] } }, reaction, false],
    [{ reaction_created: { target_cast_hashes: [A] } }, reaction, true],
    [{ reaction_created: { target_cast_hashes: [B] } }, reaction, false],
    [{ reaction_created: { target_cast_hashes: [A], fids: [4] } }, reaction, false],
    [{ reaction_created: { target_cast_hashes: [A], fids: [4], match: "any" } }, reaction, true],
    [{ "reaction.deleted": { target_fids: [4] } }, { ...reaction, kind: "reaction.deleted" }, true],
    [{ user_created: {} }, { kind: "user.created", fid: 3 }, true],
    [{ user_created: { match: "any" } }, { kind: "user.created", fid: 3 }, true],
    [{ user_updated: {} }, user, true],
    [{ user_updated: { fids: [3] } }, user, true],
    [{ "user.updated": { fids: [4] } }, user, false],
  ])("%j, %j: %p", (subscription, facts, isMatch) => {
    expect(isMatched(subscription, facts)).toBe(isMatch);
  });

  const events: readonly EventFacts[] = [
    post,
    { ...post, kind: "cast.deleted" },
    follow,
    { ...follow, kind: "follow.deleted" },
    reaction,
    { ...reaction, kind: "reaction.deleted" },
    user,
    { ...user, kind: "user.created" },
  ];
  test.each(events.map(({ kind }) => kind))(
    "%s in either spelling names itself and no other kind",
    (kind) => {
      for (const facts of events) {
        expect(isMatched({ [kind]: {} }, facts)).toBe(facts.kind === kind);
        expect(isMatched({ [kind.replace(".", "_")]: {} }, facts)).toBe(facts.kind === kind);
      }
    },
  );
});

describe("a matcher", () => {
  test("replaces a subscription of the same id and removes a deleted one", () => {
    const matcher = createMatcher();
    matcher.set("w", { "cast.created": { text: "look", author_fids: [3] }, "follow.created": {} });
    expect(matcher.match(reply)).toEqual(["w"]);
    matcher.set("w", { "cast.created": { text: "Shipped" } });
    expect([matcher.match(reply), matcher.match(post), matcher.match(follow)]).toEqual([[], ["w"], []]);
    matcher.delete("w");
    matcher.delete("never there");
    expect(matcher.match(post)).toEqual([]);
  });

  test("runs no expressions of deleted webhooks", () => {
    let readings = 0;
    const matcher = createMatcher({ nowMs: () => readings++ });
    matcher.set("stays", { "cast.created": { author_fids: [9] } });
    const filters = [
      { text: "[a-z]" },
      { text: "[0-9]", author_fids: [3] },
      { embeds: "." },
      { embeds: "x?" },
    ];
    const addAll = () =>
      filters.forEach((filter, at) => void matcher.set(`${at}`, { "cast.created": filter }));
    for (let round = 0; round < 3; round += 1) {
      addAll();
      addAll();
      matcher.match(reply);
      expect(readings).toBeGreaterThan(0);
      for (const at of filters.keys()) matcher.delete(`${at}`);
      readings = 0;
      expect(matcher.match(reply)).toEqual([]);
      expect(readings).toBe(0);
    }
  });

  test("refuses invalid expressions, naming the field, and matches other subscriptions", () => {
    const matcher = createMatcher();
    const unfit = ["(?=lookahead)", "(a)\\1", "(", "x{100000}", "(?s).*a.{200}", "(", "yy.{999}.{999}"];
    unfit.forEach((text, at) => {
      const refusal = matcher.set(`all ${at}`, { "cast.created": { text, author_fids: [3] } });
      expect(refusal).toMatch(/^cast.created.text (is not a valid RE2|repeats too much)/);
      expect(matcher.set(`alone ${at}`, { "cast.deleted": { embeds: text } })).toStartWith(
        "cast.deleted.embeds ",
      );
    });
    matcher.set("fit", { "cast.created": { text: "[l-m]oo[k]" } });
    // Its earlier subscription is removed as well.
    matcher.set("was fit", { "cast.created": { text: "look" } });
    matcher.set("was fit", { "cast.created": { text: "(", author_fids: [3], match: "any" } });
    expect(matcher.match(reply)).toEqual(["fit"]);
  });

  test("matches expressions with exponential cost in backtracking engines", () => {
    const matcher = createMatcher();
    const hostile = [
      "(a+)+$",
      "(a|aa)+$",
      "(a*)*b",
      "([a-zA-Z]+)*$",
      "(.*a){20}",
      "[a-z].{90}[0-9]",
      "(x+x+)+y",
    ];
    for (const [at, text] of hostile.entries()) matcher.set(`${at}`, { "cast.created": { text } });
    const matchesOf = (text: string) =>
      matcher
        .match({ ...post, text })
        .sort()
        .join("");
    // 2^n steps would not end for the shortest of these, n^2 not for the longest.
    for (const length of [40, 1_000, 100_000]) {
      const many = "a".repeat(length);
      expect(matchesOf(many)).toBe("0134");
      expect(matchesOf(`${many}!`)).toBe("34");
      expect(matchesOf(`${"x".repeat(length)}!`)).toBe("3");
      expect(matchesOf(`!${many}7`)).toBe(length > 90 ? "345" : "34");
    }
  });
});
