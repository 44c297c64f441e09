import { describe, expect, test } from "bun:test";
import { validations } from "@farcaster/core";
import fc from "fast-check";
import { channelIdOf } from "../../../src/protocol/channel-url.ts";
import { CastType } from "../../../src/protocol/wire/generated/message.ts";
import { type ComposeCastLookups, composeCast } from "../../../src/writes/compose/cast.ts";
import { composeReaction } from "../../../src/writes/compose/reaction.ts";

const HASH = "ab".repeat(20);
const UNKNOWN_HASH = "cd".repeat(20);
const MEMES = "https://warpcast.com/~/channel/memes";

const lookups: ComposeCastLookups = {
  fidOfName: (name) => (name === "alice" ? 1 : undefined),
  isRegistered: (fid) => fid < 10,
  authorOf: (hash) => (hash.toHex() === HASH ? 3 : undefined),
  hashOfUrl: (url) => {
    if (url === "https://farcaster.xyz/alice/0xabababab") return Uint8Array.fromHex(HASH);
    return url.startsWith("https://farcaster.xyz/alice/0x") ? "unknown" : "other";
  },
  urlOfChannel: (id) => (id === "memes" ? MEMES : undefined),
  channelOf: channelIdOf,
};

function bodyOf(request: Record<string, unknown>) {
  const result = composeCast(lookups, request);
  if (!result.ok) throw new Error(result.error.message);
  return result.value.body;
}

function refusalOf(request: Record<string, unknown>): string {
  const result = composeCast(lookups, request);
  return result.ok ? "none" : `${result.error.kind}: ${result.error.message}`;
}

describe("text", () => {
  test.each([
    [320, CastType.CAST_TYPE_CAST],
    [321, CastType.CAST_TYPE_LONG_CAST],
    [1024, CastType.CAST_TYPE_LONG_CAST],
    [1025, CastType.CAST_TYPE_TEN_K_CAST],
    [10_000, CastType.CAST_TYPE_TEN_K_CAST],
  ])("of %d bytes makes a cast of type %d", (bytes, type) => {
    expect(bodyOf({ text: "é".repeat(bytes / 2) + "x".repeat(bytes % 2) }).type).toBe(type);
  });

  test("counts without its mentions", () => {
    expect(bodyOf({ text: `${"x".repeat(320)}@alice` }).type).toBe(CastType.CAST_TYPE_LONG_CAST);
    expect(bodyOf({ text: `${"x".repeat(319)} @alice` }).type).toBe(CastType.CAST_TYPE_CAST);
  });

  test("above 10,000 bytes, of another type or with a lone surrogate is refused", () => {
    expect(refusalOf({ text: "x".repeat(10_001) })).toContain("badRequest: text");
    expect(refusalOf({ text: "x".repeat(60_000) })).toContain("badRequest: text");
    expect(refusalOf({ text: 7 })).toContain("badRequest: text");
    expect(refusalOf({ text: "a\ud800" })).toContain("badRequest: text");
  });

  test("a cast of nothing is refused, one of only a mention or an embed is not", () => {
    expect(refusalOf({})).toContain("needs text or embeds");
    expect(refusalOf({ text: "", embeds: [] })).toContain("needs text or embeds");
    expect(bodyOf({ text: "@alice" })).toMatchObject({ text: "", mentions: [1], mentionsPositions: [0] });
    expect(bodyOf({ embeds: [{ url: "https://x.example" }] }).text).toBe("");
  });

  test("is neither trimmed nor normalized, and valid by the official library", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 200 }), (text) => {
        fc.pre(text.isWellFormed());
        const body = bodyOf({ text });
        if (body.mentions.length === 0) expect(body.text).toBe(text);
        const { parent: _, type: kind, ...rest } = body;
        const official = validations.validateCastAddBody({ ...rest, embeds: [], type: kind as number });
        expect(official.isOk() || official.error.message).toBe(true);
      }),
    );
  });
});

describe("embeds", () => {
  test("are URLs and casts, in both spellings of the SDK", () => {
    const castId = { fid: 3, hash: `0x${HASH}` };
    const { embeds } = bodyOf({
      embeds: [{ url: "https://x.example/a b" }, { cast_id: castId }, { castId }],
    });
    expect(embeds.map(({ embed }) => embed?.$case)).toEqual(["url", "castId", "castId"]);
  });

  test.each([
    [[{ url: "x" }]],
    [[{ url: `https://x.example/${"é".repeat(120)}` }]],
    [[{}]],
    [[{ url: "https://x.example", cast_id: { fid: 1, hash: HASH } }]],
    [[{ fname: "x" }]],
    [[{ cast_id: { fid: 0, hash: HASH } }]],
    [[{ cast_id: { fid: 1, hash: "ab" } }]],
    [Array(5).fill({ url: "https://x.example" })],
    ["https://x.example"],
  ])("%j is refused", (embeds) => {
    expect(refusalOf({ text: "x", embeds })).toContain("badRequest:");
  });
});

describe("parent", () => {
  const reply = { $case: "parentCastId", value: { fid: 3, hash: Uint8Array.fromHex(HASH) } } as const;

  test("is a cast by hash, with or without 0x, or by a client's URL; its author is that of the index", () => {
    for (const parent of [HASH, `0x${HASH.toUpperCase()}`, "https://farcaster.xyz/alice/0xabababab"]) {
      expect(bodyOf({ text: "x", parent }).parent).toEqual(reply);
    }
    expect(bodyOf({ text: "x", parent: HASH, parent_author_fid: 3 }).parent).toEqual(reply);
    expect(refusalOf({ text: "x", parent: HASH, parent_author_fid: 4 })).toContain(
      "badRequest: parent_author_fid",
    );
  });

  test("an unknown cast needs its author", () => {
    expect(refusalOf({ text: "x", parent: UNKNOWN_HASH })).toContain("notFound: parent");
    expect(bodyOf({ text: "x", parent: UNKNOWN_HASH, parent_author_fid: 8 }).parent).toMatchObject({
      value: { fid: 8 },
    });
    expect(refusalOf({ text: "x", parent: "https://farcaster.xyz/alice/0xcdcdcdcd" })).toContain(
      "notFound: parent",
    );
  });

  test("any other absolute URL is a parent URL", () => {
    const url = "chain://eip155:1/erc721:0x1234";
    expect(bodyOf({ text: "x", parent: url }).parent).toEqual({ $case: "parentUrl", value: url });
    expect(refusalOf({ text: "x", parent: "memes" })).toContain("badRequest: parent");
  });

  test("a channel is posted to by its URL", () => {
    const inMemes = { $case: "parentUrl", value: MEMES } as const;
    expect(bodyOf({ text: "x", channel_id: "memes" }).parent).toEqual(inMemes);
    expect(bodyOf({ text: "x", channel_id: "memes", parent: MEMES }).parent).toEqual(inMemes);
    expect(refusalOf({ text: "x", channel_id: "nothing" })).toContain("notFound: channel_id");
    expect(refusalOf({ text: "x", channel_id: "memes", parent: HASH })).toContain("badRequest: channel_id");
    expect(refusalOf({ text: "x", channel_id: "memes", parent: "https://x.example" })).toContain(
      "badRequest: parent",
    );
  });
});

describe("reactions", () => {
  test("are for a cast or a URL", () => {
    const like = composeReaction(lookups, { reaction_type: "like", target: HASH });
    expect(like.ok && like.value.target).toMatchObject({ $case: "targetCastId", value: { fid: 3 } });
    const url = composeReaction(lookups, { reaction_type: "recast", target: "https://x.example" });
    expect(url.ok && url.value.target).toEqual({ $case: "targetUrl", value: "https://x.example" });
  });

  test.each([
    [{ reaction_type: "love", target: HASH }, "badRequest"],
    [{ reaction_type: "like" }, "badRequest"],
    [{ reaction_type: "like", target: "x" }, "badRequest"],
    [{ reaction_type: "like", target: UNKNOWN_HASH }, "notFound"],
    [{ reaction_type: "like", target: HASH, target_author_fid: 4 }, "badRequest"],
    [{ reaction_type: "like", target: HASH, target_author_fid: "3" }, "badRequest"],
  ])("%j is %s", (request, kind) => {
    const result = composeReaction(lookups, request);
    expect(result.ok ? "ok" : (result.error.kind as string)).toBe(kind);
  });
});
