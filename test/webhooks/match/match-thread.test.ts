import { expect, test } from "bun:test";
import { connectRpc } from "../../../src/lib/port-rpc.ts";
import type { CastFacts } from "../../../src/webhooks/match/facts.ts";
import type { SubscriptionEntry } from "../../../src/webhooks/match/match-service.ts";
import { createMatchThread } from "../../../src/webhooks/match/match-thread.ts";
import type { MatchRpc } from "../../../src/webhooks/match/rpc.ts";
import type { CastFilter } from "../../../src/webhooks/subscription.ts";
import { startMatching } from "../../support/matching.ts";

/** A random text of two letters: an expression that counts from one of them never reuses a state. */
const HOSTILE_TEXT = Array.from({ length: 10_000 }, (_, at) =>
  (at * 7_919) ** 2 % 101 < 50 ? "a" : "b",
).join("");
/** Expensive on such a text, and within the limits. */
const hostile = (at: number) => `(?s)[ab].{${100 + at}}[^ab]`;

const castOf = (text: string): CastFacts => ({
  kind: "cast.created",
  authorFid: 3,
  mentionedFids: [],
  parentUrl: null,
  rootParentUrl: null,
  parentHash: null,
  parentAuthorFid: null,
  text,
  embedUrls: [],
  embeddedCasts: [],
});
const entry = (id: string, ownerId: string, filter: CastFilter): SubscriptionEntry => ({
  id,
  ownerId,
  subscription: { "cast.created": filter },
});

/** A clock that advances only when it is read. */
function steppingClock(readingMs: number) {
  let nowMs = 0;
  return () => {
    nowMs += readingMs;
    return nowMs;
  };
}

test("stops an owner's expensive expressions with a reason, and matches all others for every event", async () => {
  // Every run seems to take the maximum of its program and text: 40 ns per instruction and character.
  const matching = startMatching({ minuteMs: 2_000, eventMs: 200 }, steppingClock(1_000));
  await matching.update({
    set: [
      ...Array.from({ length: 25 }, (_, at) => entry(`dear ${at}`, "attacker", { text: hostile(at) })),
      entry("cheap", "attacker", { text: "gm" }),
      entry("word", "neighbour", { text: "(?i)\\bgm\\b" }),
      entry("all", "neighbour", {}),
    ],
    removed: [],
  });
  const texts = Array.from({ length: 20 }, (_, at) => `gm ${at} ${at % 2 === 0 ? HOSTILE_TEXT : "friends"}`);
  const matched: (readonly string[])[] = [];
  let refused: readonly { id: string; reason: string }[] = [];
  while (matched.length < texts.length) {
    const result = await matching.match(texts.slice(matched.length).map(castOf));
    expect(result.matches.length).toBeGreaterThan(0);
    matched.push(...result.matches);
    refused = result.refused;
  }
  expect(matched.map((ids) => ids.toSorted())).toEqual(texts.map(() => ["all", "cheap", "word"]));
  expect(refused.length).toBeGreaterThan(3);
  for (const { id, reason } of refused) {
    expect(id).toStartWith("dear ");
    expect(reason).toMatch(
      /took more than (200 ms of matching for one event|2000 ms of matching within a minute)/,
    );
  }
});

test("lists a refused subscription until it is removed or set again", async () => {
  const matching = startMatching();
  await matching.update({
    set: [
      entry("broken", "a", { text: "(" }),
      entry("large", "a", { text: "(?s).*a.{980}" }),
      entry("fit", "a", {}),
    ],
    removed: [],
  });
  const refusedNow = async () => (await matching.match([castOf("gm")])).refused.map(({ id }) => id);
  expect(await refusedNow()).toEqual(["broken", "large"]);
  expect(await refusedNow()).toEqual(["broken", "large"]);
  await matching.update({ set: [entry("large", "a", { text: "gm" })], removed: ["broken"] });
  expect((await matching.match([castOf("gm")])).refused).toEqual([]);
  expect((await matching.match([castOf("gm")])).matches).toEqual([["fit", "large"]]);
});

test("refuses later programs above the limit of one owner, across clients", async () => {
  const thread = createMatchThread({ minuteMs: 1_000, eventMs: 1_000 });
  const clients = [1, 2].map(() => {
    const { port1, port2 } = new MessageChannel();
    thread.connect(port1);
    return connectRpc<MatchRpc>(port2);
  });
  // 885 instructions each.
  const words = (at: number) => `w${at}x${"y?".repeat(440)}`;
  for (const [at, client] of clients.entries()) {
    const set = Array.from({ length: 8 }, (_, n) => entry(`${n}`, "fid:3", { text: words(20 * at + n) }));
    await client.update({ set, removed: [] });
  }
  const [first, second] = await Promise.all(clients.map((client) => client.match([castOf("w3x w20x")])));
  expect(first?.matches).toEqual([["3"]]);
  expect(second?.matches).toEqual([["0"]]);
  expect(first?.refused).toEqual([]);
  expect(second?.refused.length).toBe(5);
  expect(second?.refused.at(-1)?.reason).toContain("more than 10000");
});

test("returns a long batch in slices, so that other clients get their turn", async () => {
  const matching = startMatching(undefined, steppingClock(30));
  await matching.update({ set: [entry("all", "a", {})], removed: [] });
  const { matches } = await matching.match(Array.from({ length: 100 }, () => castOf("gm")));
  expect(matches.length).toBeWithin(1, 5);
});

test("reports the stats of the thread", async () => {
  const matching = startMatching({ minuteMs: 1_000, eventMs: 1_000 }, steppingClock(0));
  await matching.update({ set: [entry("all", "a", { text: "gm" })], removed: [] });
  await matching.match([castOf("gm"), castOf("gn")]);
  expect(await matching.stats()).toMatchObject({ events: 2, overBudget: 0, owners: 1 });
});

test("counts neither the events of a preview nor its stop", async () => {
  const thread = createMatchThread({ minuteMs: 1, eventMs: 1 }, steppingClock(1_000));
  const { port1, port2 } = new MessageChannel();
  thread.connect(port1);
  const matching = connectRpc<MatchRpc>(port2);
  const preview = { ...entry("tried", "preview:3", { text: hostile(1) }), isPreview: true };
  await matching.update({ set: [preview], removed: [] });
  const { refused } = await matching.match([castOf(HOSTILE_TEXT), castOf(HOSTILE_TEXT)]);
  expect(refused).toHaveLength(1);
  expect(await matching.stats()).toMatchObject({ events: 0, overBudget: 0 });
  await matching.update({ set: [entry("real", "a", {})], removed: ["tried"] });
  await matching.match([castOf("gm")]);
  expect(await matching.stats()).toMatchObject({ events: 1 });
});
