import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readSubscription } from "../../src/webhooks/read-subscription.ts";
import { eventKinds } from "../../src/webhooks/subscription-schema.ts";
import { namedByMessage, shortJson } from "../support/case-name.ts";
import { expectOk } from "../support/result.ts";

const read = (value: unknown) => {
  const outcome = readSubscription(value, "subscription");
  return outcome.ok ? outcome.value : `${outcome.error.kind}: ${outcome.error.message}`;
};
const hash = `0x${"Ab".repeat(20)}`;

describe("normalizes the subscription", () => {
  const cases: readonly (readonly [input: object, normalized: object])[] = [
    [{ cast_created: {} }, { "cast.created": {} }],
    [{ "cast.created": {} }, { "cast.created": {} }],
    [
      { cast_deleted: {}, follow_created: {}, follow_deleted: {}, reaction_created: {} },
      { "cast.deleted": {}, "follow.created": {}, "follow.deleted": {}, "reaction.created": {} },
    ],
    [
      { reaction_deleted: {}, user_created: {}, user_updated: {} },
      { "reaction.deleted": {}, "user.created": {}, "user.updated": {} },
    ],
    [
      {
        cast_created: {
          author_fids: [3, 2],
          exclude_author_fids: [4],
          mentioned_fids: [0, Number.MAX_SAFE_INTEGER],
          parent_urls: ["https://farcaster.xyz/~/channel/dev", "chain://eip155:1/erc721:0x1"],
          root_parent_urls: ["https://x.example"],
          parent_hashes: [hash],
          parent_author_fids: [5],
          text: "(?i)\\bgm\\b",
          embeds: "youtube\\.com",
          embedded_cast_author_fids: [6],
          embedded_cast_hashes: [hash.toUpperCase().replace("0X", "0x")],
          match: "any",
        },
      },
      {
        "cast.created": {
          author_fids: [3, 2],
          exclude_author_fids: [4],
          mentioned_fids: [0, Number.MAX_SAFE_INTEGER],
          parent_urls: ["https://farcaster.xyz/~/channel/dev", "chain://eip155:1/erc721:0x1"],
          root_parent_urls: ["https://x.example"],
          parent_hashes: [hash.toLowerCase()],
          parent_author_fids: [5],
          text: "(?i)\\bgm\\b",
          embeds: "youtube\\.com",
          embedded_cast_author_fids: [6],
          embedded_cast_hashes: [hash.toLowerCase()],
          match: "any",
        },
      },
    ],
    [
      { channel_member_added: {}, "channel.pinned": {}, cast_moderated: { author_fids: [3] } },
      { "channel.member.added": {}, "channel.pinned": {}, "cast.moderated": { author_fids: [3] } },
    ],
    [
      { "channel.updated": { channel_ids: [`0x${"Ab".repeat(32)}`, "Books", "a/b"], fids: [1] } },
      { "channel.updated": { channel_ids: [`0x${"ab".repeat(32)}`, "Books", "a/b"], fids: [1] } },
    ],
    [
      { "follow.created": { fids: [1], target_fids: [2], match: "all" } },
      { "follow.created": { fids: [1], target_fids: [2], match: "all" } },
    ],
    [
      { "reaction.deleted": { fids: [1], target_fids: [2], target_cast_hashes: [hash] } },
      { "reaction.deleted": { fids: [1], target_fids: [2], target_cast_hashes: [hash.toLowerCase()] } },
    ],
    [{ "user.updated": { fids: [1] } }, { "user.updated": { fids: [1] } }],
    [{ "cast.created": { author_fids: [], text: "" } }, { "cast.created": { text: "" } }],
    [
      { "cast.created": { author_fids: Array(1024).fill(7) } },
      { "cast.created": { author_fids: Array(1024).fill(7) } },
    ],
  ];
  const named = cases.map(([input, normalized]) => [shortJson(input), input, normalized] as const);
  test.each(named)("%s", (_name, input, normalized) => {
    expect(read(input)).toEqual(normalized);
  });
});

describe("rejects the subscription", () => {
  test.each(
    namedByMessage<unknown>([
      [undefined, "subscription must be an object"],
      [null, "subscription must be an object"],
      [[], "subscription must be an object"],
      ["cast.created", "subscription must be an object"],
      [{}, "subscription must name at least one kind of event"],
      [{ "cast.updated": {} }, 'subscription has an unknown key "cast.updated"'],
      [{ cast: {} }, 'subscription has an unknown key "cast"'],
      [
        { "cast-created": {} },
        'subscription has an unknown key "cast-created": did you mean "cast.created"?',
      ],
      [
        { cast_created_: {} },
        'subscription has an unknown key "cast_created_": did you mean "cast.created"?',
      ],
      [
        { "cast.createdd": {} },
        'subscription has an unknown key "cast.createdd": did you mean "cast.created"?',
      ],
      [{ "trade.created": {} }, 'subscription has an unknown key "trade.created"'],
      [{ toString: {} }, 'subscription has an unknown key "toString"'],
      [{ ["x".repeat(500)]: {} }, `subscription has an unknown key "${"x".repeat(50)}"`],
      [{ cast_created: {}, "cast.created": {} }, "subscription names cast.created twice"],
      [{ "cast.created": null }, "subscription.cast.created must be an object"],
      [{ "cast.created": [] }, "subscription.cast.created must be an object"],
      [{ "cast.created": { fids: [1] } }, 'subscription.cast.created has an unknown key "fids"'],
      [
        { "follow.created": { author_fids: [1] } },
        'subscription.follow.created has an unknown key "author_fids"',
      ],
      [{ "user.created": { fids: [1] } }, 'subscription.user.created has an unknown key "fids"'],
      [{ "cast.created": { constructor: [] } }, 'subscription.cast.created has an unknown key "constructor"'],
      [{ "cast.created": { author_fids: 3 } }, "subscription.cast.created.author_fids must be an array"],
      [{ "cast.created": { author_fids: null } }, "subscription.cast.created.author_fids must be an array"],
      [
        { "cast.created": { author_fids: Array(1025).fill(1) } },
        "subscription.cast.created.author_fids must have at most 1024 entries",
      ],
      [{ "cast.created": { match: "none" } }, 'subscription.cast.created.match must be "all" or "any"'],
      [
        { "cast.created": { text: "a".repeat(1001) } },
        "subscription.cast.created.text must have at most 1000 characters",
      ],
      [
        { "cast.created": { text: "(?=lookahead)" } },
        "subscription.cast.created.text is not a valid RE2 regular expression",
      ],
      [{ "cast.created": { embeds: ["a"] } }, "subscription.cast.created.embeds must be a string"],
      [
        { "cast.created": { parent_hashes: ["0xabc"] } },
        "every entry of subscription.cast.created.parent_hashes must be 0x and 40 hex digits",
      ],
      [
        { "cast.created": { parent_urls: [""] } },
        "every entry of subscription.cast.created.parent_urls must have 1 to 1024 characters",
      ],
    ]),
  )("with the message: %s", (_name, input, message) => {
    expect(read(input)).toBe(`badRequest: ${message}`);
  });

  test.each(["3", -1, 1.5, 2 ** 53, 1e300, null, true, [[1]], {}])("with the fid %j", (fid) => {
    expect(read({ "cast.created": { author_fids: [1, fid] } })).toStartWith("badRequest: every entry of");
  });
});

test("lists every kind and filter once", () => {
  expect(eventKinds.map(({ kind }) => kind).sort()).toEqual([
    "cast.created",
    "cast.deleted",
    "cast.moderated",
    "channel.created",
    "channel.follow.created",
    "channel.follow.deleted",
    "channel.member.added",
    "channel.member.banned",
    "channel.member.removed",
    "channel.member.unbanned",
    "channel.moderator.added",
    "channel.moderator.removed",
    "channel.pinned",
    "channel.unpinned",
    "channel.updated",
    "follow.created",
    "follow.deleted",
    "reaction.created",
    "reaction.deleted",
    "user.created",
    "user.updated",
  ]);
});

test("normalizes any JSON to a form that reads as itself, or rejects it", () => {
  const keys = fc.constantFrom("cast_created", "cast.created", "user.updated", "fids", "text", "match", "x");
  const json = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, fc.jsonValue(), fc.dictionary(keys, tie("value"), { maxKeys: 3 })),
  })).value;
  fc.assert(
    fc.property(json, (input) => {
      const once = read(JSON.parse(JSON.stringify(input)));
      if (typeof once !== "string") expect(read(once)).toEqual(once);
    }),
    { numRuns: 300 },
  );
});

test("whose events are left out: fids and bans, beside at least one kind", () => {
  const withExclusion = (exclude: unknown) =>
    readSubscription({ "cast.created": {}, exclude }, "subscription");
  expect(expectOk(withExclusion({ fids: [3, 4], bans: true }))).toEqual({
    "cast.created": {},
    exclude: { fids: [3, 4], bans: true },
  });
  expect(expectOk(withExclusion({ fids: [] }))).toEqual({ "cast.created": {}, exclude: {} });
  for (const wrong of [null, [], { fids: [-1] }, { fids: Array(1001).fill(1) }, { bans: 1 }, { of: [] }])
    expect(withExclusion(wrong).ok).toBe(false);
  expect(readSubscription({ exclude: { fids: [1] } }, "subscription").ok).toBe(false);
});

test("a filter by score is refused where scores do not decide", () => {
  const input = { "cast.created": { minimum_author_score: 0.5 } };
  expect(readSubscription(input, "subscription")).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining("scores.enforce does not list webhooks") },
  });
  expect(expectOk(readSubscription(input, "subscription", { acceptsScores: true }))).toEqual(input as never);
  for (const wrong of [-0.1, 1.1, "0.5", null])
    expect(
      readSubscription({ "cast.created": { minimum_author_score: wrong } }, "s", { acceptsScores: true }).ok,
    ).toBe(false);
});
