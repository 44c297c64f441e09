import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { insertMentionNames } from "../../../src/read/present/cast-parts.ts";
import { cutMentions, type MentionLookups } from "../../../src/writes/compose/mentions.ts";

const fids = new Map([
  ["alice", 1],
  ["alice.eth", 2],
  ["alice.base.eth", 3],
  ["bob", 4],
  ["a-b", 5],
  ["0x", 6],
  ["sixteen-letters-", 7],
]);
const nameOf = new Map([...fids].map(([name, fid]) => [fid, name]));
const lookups: MentionLookups = {
  fidOfName: (name) => fids.get(name),
  isRegistered: (fid) => fid <= 10,
};
const mentionsOf = (text: string) => cutMentions(text, lookups).mentions;

describe("mentions are cut out of a text", () => {
  test.each([
    ["@alice", [1]],
    ["hi @alice.", [1]],
    ["(@alice)", [1]],
    ["cc:@alice", [1]],
    ["[@bob]{@alice}", [4, 1]],
    ["@ALICE and @Bob", [1, 4]],
    ["@alice.eth", [2]],
    ["@alice.ETH!", [2]],
    ["@alice.base.eth", [3]],
    ["@alice.ethereum", [1]],
    ["@bob.eth", [4]],
    ["@alice-", [1]],
    ["@alice--x", []],
    ["@a-b", [5]],
    ["@sixteen-letters-", [7]],
    ["@sixteen-letters-x", []],
    ["@!9", [9]],
    ["@!11", []],
    ["@!09", []],
    ["@!9x", []],
    ["@alice @alice", [1, 1]],
    ["@bob's", [4]],
    ["née@alice", []],
    ["@alicé", []],
    ["日@alice", []],
    ["。@alice。", [1]],
    ["🙂@alice🙂", [1]],
  ])("%p mentions %p", (text, expected) => {
    expect(mentionsOf(text)).toEqual(expected);
  });

  test.each([
    "a@b.c",
    "@a@b.c",
    "@alice@bob.example",
    "@@alice",
    "x/@alice",
    "https://x/@alice",
    "https://x.example/a-@alice",
    "see http://x?(@alice)",
    "@nobody",
    "@",
    "@-alice",
    "@_alice",
    "@alice_",
    "＠alice",
  ])("%p mentions nobody", (text) => {
    expect(cutMentions(text, lookups)).toEqual({ text, mentions: [], mentionsPositions: [] });
  });

  test("a name after a URL is a mention again", () => {
    expect(mentionsOf("https://x/@bob @alice")).toEqual([1]);
  });

  test("positions are byte offsets in the remaining text", () => {
    expect(cutMentions("é @alice 🙂@bob", lookups)).toEqual({
      text: "é  🙂",
      mentions: [1, 4],
      mentionsPositions: [3, 8],
    });
  });

  test("the eleventh name stays text", () => {
    const cut = cutMentions("@bob ".repeat(11), lookups);
    expect(cut.mentions).toHaveLength(10);
    expect(cut.text.endsWith("@bob ")).toBe(true);
  });

  test("a text of any kind is read back as it was sent, but for the letter case of its names", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "@",
        "@alice",
        "@Bob",
        "@!9",
        "@alice.eth",
        "@alice.base.eth",
        "-",
        ".eth",
        " ",
        "/",
        "_",
      ),
      fc.constantFrom("https://", "http://x", "\n", "👩‍👩‍👧", "שלום", "é", "\u0301", "\u200d", "ſ", "K"),
      fc.string({ unit: "grapheme", maxLength: 6 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join("");
        const cut = cutMentions(text, lookups);
        const mentions = cut.mentions.map((fid, at) => [fid, cut.mentionsPositions[at] ?? -1] as const);
        const shown = insertMentionNames(cut.text, mentions, (fid) => nameOf.get(fid) ?? `!${fid}`);
        expect(shown.text.toLowerCase()).toBe(text.toLowerCase());
        expect(cut.mentions.length).toBeLessThanOrEqual(10);
        for (const { start, end } of shown.ranges) expect(text.slice(start, end)).toStartWith("@");
      }),
      { numRuns: 500 },
    );
  });

  test("hostile texts take time in proportion to their length", () => {
    for (const text of [
      "@".repeat(60_000),
      "https://".repeat(8000),
      "@a".repeat(30_000),
      "@!1".repeat(20_000),
    ]) {
      expect(cutMentions(text, lookups).text).toBe(text);
    }
  });
});
