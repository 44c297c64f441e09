import { describe, expect, test } from "bun:test";
import { isUtf8 } from "node:buffer";
import { demoNetwork } from "../../src/demo/network.ts";
import { toFarcasterSecs } from "../../src/protocol/time.ts";
import {
  CastType,
  FarcasterNetwork,
  MessageData,
  MessageType,
  ReactionType,
} from "../../src/protocol/wire/generated/message.ts";
import { OnChainEventType } from "../../src/protocol/wire/generated/on-chain.ts";
import { ANCHOR_SECS, digestOf, hex, makeNetwork, type ReadMessage, readNetwork } from "./records.ts";

const WEEK_SECS = 7 * 86_400;
const OTHER_ANCHOR_SECS = ANCHOR_SECS + 41 * 86_400 + 12_345;

const network = readNetwork();
const { events, messages, proofs } = network;
const other = readNetwork(OTHER_ANCHOR_SECS);

describe("demo network, reproducible", () => {
  test("the same anchor produces the same bytes, also in another process", async () => {
    const here = digestOf(network.records);
    const code = `import { digestOf, makeNetwork } from "./records.ts";
      process.stdout.write(digestOf(makeNetwork(${ANCHOR_SECS}).records));`;
    const process = Bun.spawn(["bun", "-e", code], { cwd: import.meta.dir });
    expect(digestOf(makeNetwork(ANCHOR_SECS).records)).toBe(here);
    expect(await new Response(process.stdout).text()).toBe(here);
  });

  test("another anchor produces the same users, graph and texts, with every message shifted equally", () => {
    const shift = OTHER_ANCHOR_SECS - ANCHOR_SECS;
    expect(withoutTimes(other.messages, shift)).toEqual(withoutTimes(messages, 0));
    expect(other.proofs).toEqual([...proofs]);
  });

  test("only the youngest storage rent of each fid depends on the anchor, of all chain events", () => {
    const fixed = (all: typeof events) =>
      all.filter((event) => event.blockTimestamp < ANCHOR_SECS - 40 * 86_400).map((event) => ({ ...event }));
    const fixedEvents = fixed(events);
    expect(events.length - fixedEvents.length).toBe(200);
    expect(fixed(other.events)).toEqual(fixedEvents);
    for (const event of other.events.filter((e) => e.blockTimestamp > ANCHOR_SECS - 40 * 86_400)) {
      expect(event.type).toBe(OnChainEventType.EVENT_TYPE_STORAGE_RENT);
      expect(event.blockTimestamp).toBeLessThan(OTHER_ANCHOR_SECS);
    }
  });

  test("rejects an anchor before the network's fixed dates", () => {
    const options = { anchorUnixSecs: 1_700_000_000, network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET };
    expect(() => demoNetwork(options).next()).toThrow(RangeError);
    expect(() => demoNetwork({ ...options, anchorUnixSecs: ANCHOR_SECS + 0.5 }).next()).toThrow(RangeError);
  });

  test("messages have the requested network", () => {
    const options = { anchorUnixSecs: ANCHOR_SECS, network: FarcasterNetwork.FARCASTER_NETWORK_DEVNET };
    for (const record of demoNetwork(options)) {
      if (record.$case !== "message") continue;
      const data = MessageData.decode(record.value.dataBytes ?? new Uint8Array());
      expect(data.network).toBe(FarcasterNetwork.FARCASTER_NETWORK_DEVNET);
      return;
    }
    throw new Error("no message");
  });
});

describe("demo network, believable", () => {
  test("all messages are within the week that ends at the anchor, and each occurs once", () => {
    for (const { data } of messages) {
      expect(data.timestamp).toBeGreaterThanOrEqual(toFarcasterSecs(ANCHOR_SECS) - WEEK_SECS);
      expect(data.timestamp).toBeLessThanOrEqual(toFarcasterSecs(ANCHOR_SECS));
    }
    expect(new Set(messages.map(({ hash }) => hash)).size).toBe(messages.length);
  });

  test("it is small enough to load at a start and large enough to browse", () => {
    expect(messages.length).toBeWithin(8000, 12_001);
    const count = (type: MessageType) => messages.filter(({ data }) => data.type === type).length;
    expect(count(MessageType.MESSAGE_TYPE_CAST_ADD)).toBeWithin(2700, 3300);
    expect(count(MessageType.MESSAGE_TYPE_CAST_REMOVE)).toBeGreaterThan(10);
    expect(count(MessageType.MESSAGE_TYPE_REACTION_ADD)).toBeGreaterThan(2000);
    expect(count(MessageType.MESSAGE_TYPE_REACTION_REMOVE)).toBeGreaterThan(30);
    expect(count(MessageType.MESSAGE_TYPE_LINK_ADD)).toBeGreaterThan(1500);
    expect(count(MessageType.MESSAGE_TYPE_LINK_REMOVE)).toBeGreaterThan(20);
    expect(count(MessageType.MESSAGE_TYPE_LINK_COMPACT_STATE)).toBe(1);
    expect(count(MessageType.MESSAGE_TYPE_VERIFICATION_ADD)).toBeWithin(40, 60);
    expect(count(MessageType.MESSAGE_TYPE_VERIFICATION_REMOVE)).toBe(1);
    expect(count(MessageType.MESSAGE_TYPE_USERNAME_PROOF)).toBe(4);
    expect(proofs.filter(({ fid }) => fid > 0).length).toBeWithin(196, 200);
    expect(new Set(events.map(({ fid }) => fid)).size).toBe(200);
  });

  test("casts are of every kind: threads, channels of both hosts, quotes, long casts, 10k casts", () => {
    const casts = castsOf(messages);
    const parentUrls = casts.flatMap(({ parent }) => (parent?.$case === "parentUrl" ? [parent.value] : []));
    const starting = (start: string) => parentUrls.filter((url) => url.startsWith(start)).length;
    expect(starting("https://warpcast.com/~/channel/")).toBeGreaterThan(200);
    expect(starting("https://farcaster.xyz/~/channel/")).toBeGreaterThan(200);
    expect(starting("chain://eip155:1/erc721:0x")).toBeGreaterThan(5);
    expect(casts.filter(({ type }) => type === CastType.CAST_TYPE_LONG_CAST).length).toBeGreaterThan(10);
    expect(casts.filter(({ type }) => type === CastType.CAST_TYPE_TEN_K_CAST).length).toBeGreaterThan(1);
    const embeds = casts.flatMap((cast) => cast.embeds);
    expect(embeds.filter(({ embed }) => embed?.$case === "castId").length).toBeGreaterThan(40);
    expect(embeds.filter(({ embed }) => embed?.$case === "url").length).toBeGreaterThan(200);
    const depths = depthsOf(messages);
    expect(Math.max(...depths.values())).toBeGreaterThanOrEqual(5);
    expect([...depths.values()].filter((depth) => depth > 0).length).toBeGreaterThan(1000);
  });

  test("mentions are between characters of their text", () => {
    let mentions = 0;
    for (const cast of castsOf(messages)) {
      expect(cast.mentionsPositions.length).toBe(cast.mentions.length);
      for (const position of cast.mentionsPositions) {
        const bytes = Buffer.from(cast.text);
        expect(position).toBeLessThanOrEqual(bytes.length);
        expect(isUtf8(bytes.subarray(0, position))).toBe(true);
        mentions++;
      }
      expect(cast.text).not.toContain("\uE000");
      expect(cast.text).not.toMatch(/[{}]/);
    }
    expect(mentions).toBeGreaterThan(100);
  });

  test("a few people and casts receive most of the reactions", () => {
    const followers = tally(
      messages.flatMap(({ data }) =>
        data.type === MessageType.MESSAGE_TYPE_LINK_ADD && data.body?.$case === "linkBody"
          ? [data.body.value.target?.value]
          : [],
      ),
    );
    expect(followers[0]).toBeGreaterThan(5 * median(followers));
    const likes = tally(
      messages.flatMap(({ data }) => {
        if (data.type !== MessageType.MESSAGE_TYPE_REACTION_ADD || data.body?.$case !== "reactionBody")
          return [];
        const { type, target } = data.body.value;
        const isCast = type === ReactionType.REACTION_TYPE_LIKE && target?.$case === "targetCastId";
        return isCast ? [hex(target.value.hash)] : [];
      }),
    );
    expect(likes[0]).toBeGreaterThan(25);
    expect(median(likes)).toBeLessThanOrEqual(2);
  });
});

function castsOf(all: readonly ReadMessage[]) {
  return all.flatMap(({ data }) => (data.body?.$case === "castAddBody" ? [data.body.value] : []));
}

function depthsOf(all: readonly ReadMessage[]): Map<string, number> {
  const depths = new Map<string, number>();
  for (const { data, hash } of all) {
    if (data.body?.$case !== "castAddBody") continue;
    const { parent } = data.body.value;
    depths.set(hash, parent?.$case === "parentCastId" ? (depths.get(hex(parent.value.hash)) ?? 0) + 1 : 0);
  }
  return depths;
}

/** Returns how often each value occurs, the most frequent first. */
function tally(values: readonly unknown[]): number[] {
  const counts = new Map<unknown, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts.values()].sort((a, b) => b - a);
}

function median(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Messages as text, shifted back by `shiftSecs`, with every hash as the ordinal of the message that has it. */
function withoutTimes(all: readonly ReadMessage[], shiftSecs: number): string[] {
  const ordinals = new Map(all.map(({ hash }, ordinal) => [hash, `message ${ordinal}`]));
  return all.map(({ data }) => {
    const timestamp = data.timestamp - shiftSecs;
    const text = JSON.stringify({ ...data, timestamp }, (key, value) => {
      if (value instanceof Uint8Array) return ordinals.get(hex(value)) ?? hex(value);
      if (key === "displayTimestamp" && value !== undefined) return value - shiftSecs;
      return value;
    });
    // The proof of an ENS name repeats and signs its time.
    return data.type === MessageType.MESSAGE_TYPE_USERNAME_PROOF ? `proof of ${data.fid}` : text;
  });
}
