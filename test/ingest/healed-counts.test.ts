import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { noteChannelsActive } from "../../src/db/index/channels/follows.ts";
import { type IndexDatabase, openIndexInMemory } from "../../src/db/index/database.ts";
import { claimNetwork } from "../../src/db/index/identity.ts";
import { writeMeta } from "../../src/db/index/meta.ts";
import { KindRoots } from "../../src/db/index/trie/kind-roots.ts";
import { createIngestEngine, type IngestEngine } from "../../src/ingest/engine.ts";
import type { RelayedOp } from "../../src/ingest/relayed-op.ts";
import type { HealedAccount } from "../../src/ingest/trie/heal-account.ts";
import { DEMO_REGISTRAR, followUriOf } from "../../src/protocol/channels/follow-uri.ts";
import { FarcasterNetwork, MessageType, ReactionType } from "../../src/protocol/wire/generated/message.ts";
import { accountRootOf, childOf } from "../../src/trust/trie/trie.ts";
import { accountPrefix } from "../../src/trust/trie-key.ts";
import { ManualClock } from "../support/clock.ts";
import { contentDifferences, indexContent } from "../support/index-content.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP, signMessage, type TestData } from "../support/messages.ts";
import { accountSigner } from "../support/node.ts";
import { hashOf, linkMessage, reactionMessage } from "../support/social.ts";

const NETWORK = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
const FID = 1;
const CHANNEL = "https://warpcast.com/~/channel/made";
let at = DEFAULT_TIMESTAMP - 50_000;

function signed(fid: number, type: keyof typeof MessageType, body: TestData["body"]): Uint8Array {
  at += 1;
  return signMessage(
    { type: MessageType[type] as MessageType, fid, timestamp: at, body },
    accountSigner(fid),
  );
}
const cast = (fid: number, value: object = {}) =>
  signed(fid, "MESSAGE_TYPE_CAST_ADD", { $case: "castAddBody", value: { text: `of ${at}`, ...value } });
const idOf = (fid: number, message: Uint8Array) => ({
  fid,
  hash: Buffer.from(hashOf(message).slice(2), "hex"),
});
const replyTo = (fid: number, parent: Uint8Array, of = FID) =>
  cast(of, { parent: { $case: "parentCastId", value: idOf(fid, parent) } });
const inChannel = () => cast(FID, { parent: { $case: "parentUrl", value: CHANNEL } });
const castRemove = (n: number) =>
  signed(FID, "MESSAGE_TYPE_CAST_REMOVE", {
    $case: "castRemoveBody",
    value: { targetHash: Buffer.alloc(20, n) },
  });
const reaction = (type: ReactionType, fid: number, of: Uint8Array, remove = false) =>
  reactionMessage(FID, type, { fid, hash: hashOf(of) }, { remove, at: ++at });
const ofUrl = (type: ReactionType, url: string, fid = FID) =>
  signed(fid, "MESSAGE_TYPE_REACTION_ADD", {
    $case: "reactionBody",
    value: { type, target: { $case: "targetUrl", value: url } },
  });
const link = (type: string, fid: number, remove = false) => linkMessage(FID, type, fid, { remove, at: ++at });
const userData = (type: number, value: string) =>
  signed(FID, "MESSAGE_TYPE_USER_DATA_ADD", { $case: "userDataBody", value: { type, value } });
const verification = (n: number) =>
  signed(FID, "MESSAGE_TYPE_VERIFICATION_ADD", {
    $case: "verificationAddBody",
    value: { address: Buffer.alloc(20, n), claimSignature: Buffer.alloc(65), blockHash: Buffer.alloc(32) },
  });

const sharedUrl = (n: number) => `https://example.com/shared/${n}`;
const followUri = (n: number) => followUriOf(DEMO_REGISTRAR, Buffer.alloc(32, n)) ?? "";

const { REACTION_TYPE_LIKE: LIKE, REACTION_TYPE_RECAST: RECAST } = ReactionType;
const own = [1, 2, 3, 4].map(() => cast(FID));
const theirs = [1, 2, 3, 4].map(() => cast(2));
const [o1, o2, o3, o4, t1, t2, t3, t4] = [...own, ...theirs] as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
];

/** By kind: one message that the disk may lose, and one that an upstream may withhold. */
const STORES: Readonly<Record<string, Readonly<Record<string, readonly [Uint8Array, Uint8Array]>>>> = {
  casts: {
    "a cast": [cast(FID), cast(FID)],
    "a reply": [replyTo(2, t1), replyTo(2, t2)],
    "another reply to the same cast": [replyTo(2, t3), replyTo(2, t3)],
    "a reply to an own cast": [replyTo(FID, o1), replyTo(FID, o2)],
    "a mention": [
      cast(FID, { mentions: [2], mentionsPositions: [0] }),
      cast(FID, { mentions: [3], mentionsPositions: [0] }),
    ],
    "a cast in a channel": [inChannel(), inChannel()],
    "a removal": [castRemove(1), castRemove(2)],
  },
  reactions: {
    "a like": [reaction(LIKE, 2, t1), reaction(LIKE, 2, t2)],
    "a recast": [reaction(RECAST, 2, t3), reaction(RECAST, 2, t4)],
    "a like of an own cast": [reaction(LIKE, FID, o1), reaction(LIKE, FID, o2)],
    "a recast of an own cast": [reaction(RECAST, FID, o3), reaction(RECAST, FID, o4)],
    "a like of a URL": [ofUrl(LIKE, "https://example.com/1"), ofUrl(LIKE, "https://example.com/2")],
    "a recast of a URL": [ofUrl(RECAST, "https://example.com/3"), ofUrl(RECAST, "https://example.com/4")],
    "a like of a URL that others like": [ofUrl(LIKE, sharedUrl(1)), ofUrl(LIKE, sharedUrl(2))],
    "a follow of a channel": [ofUrl(LIKE, followUri(1)), ofUrl(LIKE, followUri(2))],
    "a removal": [reaction(LIKE, 2, t3, true), reaction(LIKE, 2, t4, true)],
  },
  links: {
    "a follow": [link("follow", 2), link("follow", 3)],
    "a block": [link("block", 4), link("block", 5)],
    "a removal": [link("follow", 6, true), link("follow", 7, true)],
  },
  "user data": { "a property": [userData(2, "name"), userData(3, "bio")] },
  verifications: { "an address": [verification(1), verification(2)] },
};
/** Others like and reply, too, so that each count has more than the account's. */
const OTHERS = [
  ...[...own, ...theirs].map((of, n) =>
    reactionMessage(3, LIKE, { fid: n < own.length ? FID : 2, hash: hashOf(of) }, { at: ++at }),
  ),
  ...[o1, o2].map((of) => replyTo(FID, of, 3)),
  linkMessage(2, "follow", FID, { at: ++at }),
  ...[1, 2].map((n) => ofUrl(LIKE, sharedUrl(n), 3)),
  inChannel(),
];

const put = (message: Uint8Array): RelayedOp => ({ kind: "put", message, happenedAt: 0 });
function startIndex(): { readonly db: IndexDatabase; readonly engine: IngestEngine } & Disposable {
  const db = openIndexInMemory();
  claimNetwork(db, "mainnet");
  db.transaction(() => {
    writeMeta(db, "demo", "1");
    noteChannelsActive(db, 0);
  });
  return { db, engine: engineOf(db), [Symbol.dispose]: () => db[Symbol.dispose]() };
}

const engineOf = (db: IndexDatabase): IngestEngine =>
  createIngestEngine({
    db,
    network: NETWORK,
    clock: new ManualClock(DEFAULT_NOW_SECS),
    onFault: (cause) => {
      throw cause;
    },
  });

const ROWS = ["casts", "reactions", "links", "user_data", "messages"] as const;
/** Deletes the rows that the last messages added to the tables of messages, and nothing else. */
function loseAfter(db: IndexDatabase, before: ReadonlyMap<string, ReadonlySet<string>>): number {
  let lost = 0;
  for (const table of ROWS) {
    const keys = keysOf(db, table);
    for (const row of rowsOf(db, table, keys)) {
      if (before.get(table)?.has(JSON.stringify(row))) continue;
      const where = keys.map((key) => `${key} = ?`).join(" AND ");
      lost += db.sqlite.run(`DELETE FROM ${table} WHERE ${where}`, Object.values(row)).changes;
    }
  }
  return lost;
}
const keysOf = (db: IndexDatabase, table: string) =>
  db.sqlite
    .query<{ name: string; pk: number }, []>(`PRAGMA table_info(${table})`)
    .all()
    .filter(({ pk }) => pk > 0)
    .map(({ name }) => name);
const rowsOf = (db: IndexDatabase, table: string, keys: readonly string[]) =>
  db.sqlite.query<Record<string, string | number>, []>(`SELECT ${keys.join(", ")} FROM ${table}`).all();
const rowsNow = (db: IndexDatabase) =>
  new Map(
    ROWS.map((table) => [
      table,
      new Set(rowsOf(db, table, keysOf(db, table)).map((row) => JSON.stringify(row))),
    ]),
  );

/** The account as a signed root would have it. */
function signedAccount(db: IndexDatabase): HealedAccount {
  const account = accountPrefix(FID);
  const kinds = new KindRoots(db, NETWORK, 1).ofAccount(1, account);
  return {
    shard: 1,
    account,
    root: accountRootOf(kinds, [])?.root ?? new Uint8Array(),
    children: Array.from({ length: 16 }, (_, nibble) => childOf(nibble, kinds) ?? []).flat(),
    uncertain: [],
  };
}

/** Returns in what an account differs after it was healed, by the rows of an index that had everything. */
function differences(whole: IndexDatabase, healed: IndexDatabase, except: readonly string[] = []): string[] {
  const contents = [whole, healed].map((db) => {
    const content = indexContent(db);
    const followers = db.sqlite.query<object, []>(
      "SELECT hex(channel_id), followers FROM channel_counts WHERE followers != 0",
    );
    content.set(
      "channel_counts",
      followers
        .all()
        .map((row) => JSON.stringify(row))
        .sort(),
    );
    // Which envelope a lost row had is not known: it stays.
    for (const one of ["envelopes", ...except]) content.delete(one);
    return content;
  });
  const [expected = new Map(), now = new Map()] = contents;
  return contentDifferences(expected, now);
}

interface Case {
  readonly lost: readonly Uint8Array[];
  /** What the upstream lists. */
  readonly read: readonly Uint8Array[];
  /** What happens between the loss and the healing. */
  readonly meanwhile?: readonly Uint8Array[];
  readonly except?: readonly string[];
  readonly hasWords?: boolean;
}

const OTHER_OPS = [...own, ...theirs, ...OTHERS].map(put);

/** Makes an index lose messages, and heals it with all that the network has. Returns in what it differs then. */
function healedDifferences({ lost, read, meanwhile = [], except, hasWords = true }: Case): string[] {
  using whole = startIndex();
  using damaged = startIndex();
  for (const { db, engine } of [whole, damaged]) {
    db.search.isOn = hasWords;
    engine.applyRelayed({ ops: OTHER_OPS, positions: [] });
  }
  whole.engine.applyRelayed({ ops: [...lost, ...meanwhile, ...read].map(put), positions: [] });
  const before = rowsNow(damaged.db);
  damaged.engine.applyRelayed({ ops: lost.map(put), positions: [] });
  expect(loseAfter(damaged.db, before)).toBe(lost.length);
  damaged.engine.applyRelayed({ ops: meanwhile.map(put), positions: [] });
  damaged.engine.applyRelayed({ ops: read.map(put), positions: [], healed: signedAccount(whole.db) });
  return differences(whole.db, damaged.db, except);
}

/**
 * All that is left of one of these is its envelope, which no index finds, and of a removal nothing. So nothing shows which of the two was
 * here, and the number of all likes or links may be off by one.
 */
const ALIKE = ["a like of a URL that others like", "a block"];
const isUnclear = (lost: string, withheld: string) =>
  [lost, withheld].some((one) => ALIKE.includes(one)) && [lost, withheld].includes("a removal");

const PAIRS = Object.entries(STORES).flatMap(([store, kinds]) =>
  Object.entries(kinds).flatMap(([lost, [message]]) =>
    Object.entries(kinds).map(([withheld, [, other]]) => ({
      store,
      lost,
      withheld,
      one: {
        lost: [message],
        read: [other, message],
        except: isUnclear(lost, withheld) ? ["totals"] : [],
      },
    })),
  ),
);

describe("an account whose rows the disk lost, healed", () => {
  test.each(PAIRS)(
    "$store: $lost that the disk lost and $withheld that an upstream withheld are each counted once",
    ({ one }) => expect(healedDifferences(one)).toEqual([]),
  );

  test("counts any messages once, however many were lost and withheld, in any order", () => {
    const all = Object.values(STORES).flatMap((kinds) =>
      Object.entries(kinds).flatMap(([kind, both]) => (ALIKE.includes(kind) ? [] : both)),
    );
    const cases = fc.record({
      read: fc.shuffledSubarray(all, { minLength: 1 }),
      lost: fc.array(fc.boolean(), { minLength: all.length, maxLength: all.length }),
    });
    fc.assert(
      fc.property(cases, ({ read, lost }) => {
        expect(healedDifferences({ read, lost: read.filter((_, at) => lost[at]) })).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  test.each(Object.entries(STORES.casts ?? {}).filter(([kind]) => kind !== "a removal"))(
    "counts %s once to which somebody replied after the disk had lost it",
    (_, [message]) => {
      const meanwhile = [replyTo(FID, message, 3)];
      expect(healedDifferences({ lost: [message], read: [message], meanwhile })).toEqual([]);
    },
  );

  test.each(["a reply", "a mention"])("counts %s once without an index of words, too", (kind) => {
    const [lost, withheld] = STORES.casts?.[kind] ?? [];
    if (!lost || !withheld) throw new Error(`there is none: ${kind}`);
    expect(healedDifferences({ lost: [lost], read: [withheld, lost], hasWords: false })).toEqual([]);
  });

  test("has the number of its rows in each store where a lost message has left the network since", () => {
    const [gone] = STORES.links?.["a block"] ?? [];
    const [, kept] = STORES.links?.["a follow"] ?? [];
    if (!gone || !kept) throw new Error("there are none");
    using whole = startIndex();
    using damaged = startIndex();
    for (const { engine } of [whole, damaged]) engine.applyRelayed({ ops: OTHER_OPS, positions: [] });
    whole.engine.applyRelayed({ ops: [put(kept)], positions: [] });
    const before = rowsNow(damaged.db);
    damaged.engine.applyRelayed({ ops: [put(gone)], positions: [] });
    loseAfter(damaged.db, before);
    const healed = signedAccount(whole.db);
    damaged.engine.applyRelayed({ ops: [put(kept)], positions: [], healed });
    expect(differences(whole.db, damaged.db)).toEqual([]);
    // What arrives later was not lost.
    const [removal] = STORES.links?.["a removal"] ?? [];
    if (!removal) throw new Error("there is none");
    for (const { engine } of [whole, damaged]) engine.applyRelayed({ ops: [put(removal)], positions: [] });
    expect(differences(whole.db, damaged.db)).toEqual([]);
  });

  test("has the number of its rows where the disk lost the number, too", () => {
    const [message] = STORES.links?.["a follow"] ?? [];
    if (!message) throw new Error("there is none");
    using whole = startIndex();
    using damaged = startIndex();
    for (const { engine } of [whole, damaged]) engine.applyRelayed({ ops: OTHER_OPS, positions: [] });
    whole.engine.applyRelayed({ ops: [put(message)], positions: [] });
    expect(damaged.db.sqlite.run("DELETE FROM store_counts WHERE fid = ?", [FID]).changes).toBeGreaterThan(0);
    // An engine keeps the numbers that it has read.
    const restarted = engineOf(damaged.db);
    restarted.applyRelayed({ ops: [put(message)], positions: [], healed: signedAccount(whole.db) });
    expect(differences(whole.db, damaged.db)).toEqual([]);
  });

  test("takes a number of statements that grows with the messages that return, not with all of them", () => {
    const statementsFor = (count: number) => {
      const messages = Array.from({ length: count }, (_, n) => link("follow", 100 + n));
      using whole = startIndex();
      using damaged = startIndex();
      whole.engine.applyRelayed({ ops: messages.map(put), positions: [] });
      damaged.engine.applyRelayed({ ops: messages.map(put), positions: [] });
      damaged.db.sqlite.run("DELETE FROM links WHERE target_fid >= 100");
      const healed = signedAccount(whole.db);
      const ran = new Map<string, number>();
      damaged.db.onStatement = (name) => ran.set(name, (ran.get(name) ?? 0) + 1);
      damaged.engine.applyRelayed({ ops: messages.map(put), positions: [], healed });
      damaged.db.onStatement = undefined;
      expect(differences(whole.db, damaged.db)).toEqual([]);
      return {
        countsOfRows: ran.get("store-counts.links"),
        all: [...ran.values()].reduce((sum, n) => sum + n, 0),
      };
    };
    const [few, many] = [statementsFor(50), statementsFor(500)];
    expect([few.countsOfRows, many.countsOfRows]).toEqual([1, 1]);
    expect(many.all).toBeLessThan(10 * few.all);
  });
});
