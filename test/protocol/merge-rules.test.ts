import { describe, expect, test } from "bun:test";
import {
  type ConflictOutcome,
  Kind,
  type Rank,
  resolveConflict,
  Store,
} from "../../src/protocol/message/merge-rules.ts";
import { MessageType, UserDataType } from "../../src/protocol/wire/generated/message.ts";
import { liveHashes } from "../support/live-messages.ts";
import { DEFAULT_TIMESTAMP, signMessage } from "../support/messages.ts";
import { accountRecords, accountSigner, startTestNode } from "../support/node.ts";
import { hashOf } from "../support/social.ts";

const { Add, Remove, Compact } = Kind;
const SMALL = Buffer.alloc(20, 1);
/** Differs in the last byte only, and by its sign bit: bytes compare unsigned. */
const GREAT = Buffer.concat([SMALL.subarray(0, 19), Buffer.from([0x81])]);

const rank = (kind: Rank["kind"], timestamp: number, hash: Uint8Array): Rank => ({ kind, timestamp, hash });

describe("resolveConflict", () => {
  const TWO_KINDS = [Store.Casts, Store.Links, Store.Reactions, Store.Verifications];
  const ADDS_ONLY = [Store.UserData, Store.UsernameProofs, Store.StorageLends];

  test.each([
    ...TWO_KINDS.flatMap((store) => [Add, Remove].map((kind) => [store, kind] as const)),
    ...ADDS_ONLY.map((store) => [store, Add] as const),
  ])(
    "store %d, kind %d: of two messages of one second the greater hash wins, in both orders",
    (store, kind) => {
      const [small, great] = [rank(kind, 5, SMALL), rank(kind, 5, GREAT)];
      expect(resolveConflict(store, small, great)).toBe("replace");
      expect(resolveConflict(store, great, small)).toBe("conflict");
      expect(resolveConflict(store, great, rank(kind, 5, Buffer.from(GREAT)))).toBe("duplicate");
    },
  );

  test.each([...TWO_KINDS, ...ADDS_ONLY])("store %d: the later message wins, whatever its hash", (store) => {
    const [early, late] = [rank(Add, 5, GREAT), rank(Add, 6, SMALL)];
    expect(resolveConflict(store, early, late)).toBe("replace");
    expect(resolveConflict(store, late, early)).toBe("conflict");
  });

  const REMOVES: readonly [store: Store, addAt: number, removeAt: number, winner: "add" | "remove"][] = [
    [Store.Casts, 6, 5, "remove"],
    [Store.Casts, 5, 5, "remove"],
    ...[Store.Links, Store.Reactions, Store.Verifications].flatMap((store): typeof REMOVES => [
      [store, 5, 5, "remove"],
      [store, 5, 6, "remove"],
      [store, 6, 5, "add"],
    ]),
  ];
  test.each(REMOVES)(
    "store %d: an add at %d and a remove at %d leave the %s, in both orders",
    (store, addAt, removeAt, winner) => {
      for (const [addHash, removeHash] of [
        [SMALL, GREAT],
        [GREAT, SMALL],
      ] as const) {
        const [add, remove] = [rank(Add, addAt, addHash), rank(Remove, removeAt, removeHash)];
        const isRemove: ConflictOutcome = winner === "remove" ? "replace" : "conflict";
        expect(resolveConflict(store, add, remove)).toBe(isRemove);
        expect(resolveConflict(store, remove, add)).toBe(isRemove === "replace" ? "conflict" : "replace");
      }
    },
  );

  test("a compact state is replaced by a strictly later one only, whatever its hash", () => {
    const [early, late] = [rank(Compact, 5, GREAT), rank(Compact, 6, SMALL)];
    expect(resolveConflict(Store.Links, early, late)).toBe("replace");
    expect(resolveConflict(Store.Links, late, early)).toBe("conflict");
    expect(resolveConflict(Store.Links, rank(Compact, 5, SMALL), rank(Compact, 5, GREAT))).toBe("conflict");
    expect(resolveConflict(Store.Links, early, early)).toBe("duplicate");
  });
});

/** Messages that compete for one slot in one second. */
const RIVALS = Array.from({ length: 6 }, (_, n) =>
  signMessage(
    {
      type: MessageType.MESSAGE_TYPE_USER_DATA_ADD,
      fid: 1,
      timestamp: DEFAULT_TIMESTAMP,
      body: { $case: "userDataBody", value: { type: UserDataType.USER_DATA_TYPE_BIO, value: `bio ${n}` } },
    },
    accountSigner(1),
  ),
).toSorted((a, b) => (hashOf(a) < hashOf(b) ? -1 : 1));

const ORDERS = [
  ["ascending", RIVALS],
  ["descending", RIVALS.toReversed()],
] as const;
const GREATEST = RIVALS.at(-1) ?? new Uint8Array();

test.each(ORDERS)(
  "of messages of one second that are submitted in %s order of their hashes, the greatest stays",
  (_, rivals) => {
    using node = startTestNode();
    node.ingestAll(accountRecords(1));
    const outcomes = rivals.map((message) => node.ingestMessage(message));
    expect(outcomes).toEqual(
      rivals.map((_, n) => (n === 0 || rivals[0] !== GREATEST ? "ok" : "bad_request.conflict")),
    );
    expect(liveHashes(node.db)).toEqual([hashOf(GREATEST).slice(2)]);
  },
);

test.each(ORDERS)(
  "of messages of one second that are relayed in %s order of their hashes, the greatest stays",
  (_, rivals) => {
    using node = startTestNode();
    node.ingestAll(accountRecords(1));
    const ops = rivals.map((message) => ({ kind: "merge", message, deleted: [], happenedAt: 0 }) as const);
    node.relay(ops);
    expect(liveHashes(node.db)).toEqual([hashOf(GREATEST).slice(2)]);
  },
);
