import { describe, expect, test } from "bun:test";
import { type IndexDatabase, indexPath } from "../../src/db/index/database.ts";
import { verifyIndex } from "../../src/db/index/verify/verify.ts";
import {
  MessageType,
  ReactionType,
  StorageUnitType,
  UserDataType,
} from "../../src/protocol/wire/generated/message.ts";
import { type Hash, loadCastsByHash } from "../../src/read/hydrate/casts.ts";
import { loadUsers } from "../../src/read/hydrate/users.ts";
import { liveHashes } from "../support/live-messages.ts";
import { DEFAULT_TIMESTAMP, signedCast, signMessage } from "../support/messages.ts";
import { accountRecords, accountSigner, startTestNode, type TestNode } from "../support/node.ts";
import { hashOf, linkMessage, reactionMessage } from "../support/social.ts";

function nodeWithAccounts(...fids: number[]): TestNode {
  const node = startTestNode();
  for (const fid of fids) expect(node.ingestAll(accountRecords(fid))).toEqual(["ok", "ok", "ok", "ok"]);
  return node;
}

describe("merge", () => {
  test("refuses the same message again as a duplicate, without changes", () => {
    using node = nodeWithAccounts(1);
    const cast = signedCast(1, "hello", accountSigner(1));
    expect(node.ingestMessage(cast)).toBe("ok");
    expect(node.ingestMessage(cast)).toBe("bad_request.duplicate");
    expect(castsIn(node.db, [hashOf(cast)]).get(hashOf(cast))?.text).toBe("hello");
    expect(verifyIndex(indexPath(node.dir))).toEqual([]);
  });

  test("a remove hides its cast in either order of arrival", () => {
    for (const removeFirst of [true, false]) {
      using node = nodeWithAccounts(1);
      const cast = signedCast(1, "gone", accountSigner(1));
      const remove = signMessage(
        {
          type: MessageType.MESSAGE_TYPE_CAST_REMOVE,
          fid: 1,
          timestamp: DEFAULT_TIMESTAMP - 100,
          body: { $case: "castRemoveBody", value: { targetHash: Buffer.from(hashOf(cast).slice(2), "hex") } },
        },
        accountSigner(1),
      );
      const verdicts = (removeFirst ? [remove, cast] : [cast, remove]).map((m) => node.ingestMessage(m));
      expect(verdicts).toEqual(["ok", removeFirst ? "bad_request.conflict" : "ok"]);
      expect(castsIn(node.db, [hashOf(cast)]).size).toBe(0);
    }
  });

  test("counts a like with the cast's author, ignores one with a wrong fid, and subtracts an unlike", () => {
    using node = nodeWithAccounts(1, 2);
    const cast = signedCast(1, "like me", accountSigner(1));
    const hash = hashOf(cast);
    node.ingestMessage(cast);
    node.ingestMessage(reactionMessage(2, ReactionType.REACTION_TYPE_LIKE, { fid: 1, hash }));
    node.ingestMessage(reactionMessage(2, ReactionType.REACTION_TYPE_LIKE, { fid: 2, hash }));
    expect(castsIn(node.db, [hash]).get(hash)?.likes).toBe(1);
    node.ingestMessage(
      reactionMessage(
        2,
        ReactionType.REACTION_TYPE_LIKE,
        { fid: 1, hash },
        { remove: true, at: DEFAULT_TIMESTAMP + 1 },
      ),
    );
    expect(castsIn(node.db, [hash]).get(hash)?.likes).toBe(0);
    expect(verifyIndex(indexPath(node.dir))).toEqual([]);
  });

  test("replies that arrive before their ancestors get the same root as in order", () => {
    using node = nodeWithAccounts(1);
    const url = "https://farcaster.xyz/~/channel/tests";
    const root = castBelow({ $case: "parentUrl", value: url }, "root", 0);
    const middle = castBelow(parent(root), "middle", 1);
    const leaf = castBelow(parent(middle), "leaf", 2);
    for (const message of [leaf, middle, root]) expect(node.ingestMessage(message)).toBe("ok");
    const casts = castsIn(node.db, [hashOf(leaf), hashOf(middle), hashOf(root)]);
    expect(casts.get(hashOf(leaf))).toMatchObject({ threadHash: hashOf(root), rootParentUrl: url });
    expect(casts.get(hashOf(middle))).toMatchObject({
      threadHash: hashOf(root),
      rootParentUrl: url,
      replies: 1,
    });
    expect(verifyIndex(indexPath(node.dir))).toEqual([]);
  });

  test("replies of a removed ancestor have the missing hash as root, as if it had never arrived", () => {
    using node = nodeWithAccounts(1);
    const root = castBelow({ $case: "parentUrl", value: "https://a.example" }, "root", 0);
    const middle = castBelow(parent(root), "middle", 1);
    const leaf = castBelow(parent(middle), "leaf", 2);
    for (const message of [root, middle, leaf]) node.ingestMessage(message);
    const remove = signMessage(
      {
        type: MessageType.MESSAGE_TYPE_CAST_REMOVE,
        fid: 1,
        body: { $case: "castRemoveBody", value: { targetHash: Buffer.from(hashOf(middle).slice(2), "hex") } },
      },
      accountSigner(1),
    );
    expect(node.ingestMessage(remove)).toBe("ok");
    expect(castsIn(node.db, [hashOf(leaf)]).get(hashOf(leaf))).toMatchObject({
      threadHash: hashOf(middle),
      rootParentUrl: null,
    });
    expect(verifyIndex(indexPath(node.dir))).toEqual([]);
  });

  test("a compact state removes older links of its type that it does not list", () => {
    using node = nodeWithAccounts(1);
    for (const target of [2, 3, 4])
      node.ingestMessage(linkMessage(1, "follow", target, { at: DEFAULT_TIMESTAMP - 10 }));
    node.ingestMessage(linkMessage(1, "block", 9, { at: DEFAULT_TIMESTAMP - 10 }));
    node.ingestMessage(linkMessage(1, "follow", 5, { at: DEFAULT_TIMESTAMP + 10 }));
    expect(node.ingestMessage(compactMessage([2, 8]))).toBe("ok");
    expect(loadUsers(node.db, [1]).get(1)?.following).toBe(2);
    expect(node.ingestMessage(linkMessage(1, "follow", 6, { at: DEFAULT_TIMESTAMP - 5 }))).toBe(
      "bad_request.conflict",
    );
    // It decides on older links only.
    expect(node.ingestMessage(linkMessage(1, "follow", 7, { at: DEFAULT_TIMESTAMP }))).toBe("ok");
    expect(node.ingestMessage(linkMessage(1, "follow", 8, { at: DEFAULT_TIMESTAMP - 5 }))).toBe("ok");
    expect(node.ingestMessage(linkMessage(1, "follow", 2, { at: DEFAULT_TIMESTAMP - 5, remove: true }))).toBe(
      "bad_request.prunable",
    );
    expect(verifyIndex(indexPath(node.dir))).toEqual([]);
  });

  test("a lend of 0 units ends the one before it and is not stored", () => {
    using node = startTestNode();
    node.ingestAll([...accountRecords(1, 2000), ...accountRecords(2)]);
    const lend = (numUnits: number, timestamp: number) =>
      signMessage(
        {
          type: MessageType.MESSAGE_TYPE_LEND_STORAGE,
          fid: 1,
          timestamp,
          body: {
            $case: "lendStorageBody",
            value: { toFid: 2, numUnits, unitType: StorageUnitType.UNIT_TYPE_2025 },
          },
        },
        accountSigner(1),
      );
    expect(node.ingestMessage(lend(5, DEFAULT_TIMESTAMP - 1))).toBe("ok");
    expect(liveHashes(node.db)).toHaveLength(1);
    expect(node.ingestMessage(lend(0, DEFAULT_TIMESTAMP))).toBe("ok");
    expect(liveHashes(node.db)).toEqual([]);
  });

  test("a full store loses its oldest messages and refuses a message older than all others as prunable", () => {
    using node = nodeWithAccounts(1);
    const at = (n: number) =>
      signedCast(1, `cast ${n}`, accountSigner(1), { timestamp: DEFAULT_TIMESTAMP - 1000 + n });
    for (let n = 0; n < 100; n++) expect(node.ingestMessage(at(n))).toBe("ok");
    expect(node.ingestMessage(at(100))).toBe("ok");
    expect(castsIn(node.db, [hashOf(at(0))]).size).toBe(0);
    expect(node.ingestMessage(at(-1))).toBe("bad_request.prunable");
    expect(castsIn(node.db, [hashOf(at(-1)), hashOf(at(1))]).size).toBe(1);
    expect(verifyIndex(indexPath(node.dir))).toEqual([]);
  });

  test("of equally old messages a full store loses the one with the lesser hash, which refuses no other", () => {
    using node = nodeWithAccounts(1);
    const castsOfOneSecond = Array.from({ length: 102 }, (_, n) =>
      signedCast(1, `cast ${n}`, accountSigner(1), { timestamp: DEFAULT_TIMESTAMP - 10 }),
    ).sort((a, b) => (hashOf(a) < hashOf(b) ? -1 : 1));
    const [least, ...others] = castsOfOneSecond;
    const [last] = others.splice(50, 1);
    for (const one of others) expect(node.ingestMessage(one)).toBe("ok");
    if (!least || !last) throw new Error("102 casts");
    expect(node.ingestMessage(last)).toBe("ok");
    expect(castsIn(node.db, others.slice(0, 1).map(hashOf)).size).toBe(0);
    expect(node.ingestMessage(least)).toBe("bad_request.prunable");
    expect(castsIn(node.db, castsOfOneSecond.map(hashOf)).size).toBe(100);
  });

  test("refuses a message without a registered fid, an active key of that fid, or a live name for its USERNAME", () => {
    using node = nodeWithAccounts(1, 2);
    expect(node.ingestMessage(signedCast(77, "nobody", accountSigner(77)))).toBe(
      "bad_request.validation_failure",
    );
    expect(node.ingestMessage(signedCast(1, "not my key", accountSigner(2)))).toBe(
      "bad_request.validation_failure",
    );
    const name = (value: string) =>
      signMessage(
        {
          type: MessageType.MESSAGE_TYPE_USER_DATA_ADD,
          fid: 1,
          body: { $case: "userDataBody", value: { type: UserDataType.USER_DATA_TYPE_USERNAME, value } },
        },
        accountSigner(1),
      );
    expect(node.ingestMessage(name("user2"))).toBe("bad_request.validation_failure");
    expect(node.ingestMessage(name("user1"))).toBe("ok");
    expect(loadUsers(node.db, [1]).get(1)?.username).toBe("user1");
  });
});

function castsIn(db: IndexDatabase, hashes: readonly Hash[]) {
  return new Map(loadCastsByHash(db, hashes).map((cast) => [cast.hash, cast]));
}

function castBelow(parent: NonNullable<Parent>, text: string, offset: number): Uint8Array {
  return signMessage(
    {
      type: MessageType.MESSAGE_TYPE_CAST_ADD,
      fid: 1,
      timestamp: DEFAULT_TIMESTAMP + offset,
      body: { $case: "castAddBody", value: { text, parent } },
    },
    accountSigner(1),
  );
}

type Parent =
  | { $case: "parentUrl"; value: string }
  | { $case: "parentCastId"; value: { fid: number; hash: Uint8Array } };

function parent(of: Uint8Array): Parent {
  return { $case: "parentCastId", value: { fid: 1, hash: Buffer.from(hashOf(of).slice(2), "hex") } };
}

function compactMessage(targetFids: number[]): Uint8Array {
  return signMessage(
    {
      type: MessageType.MESSAGE_TYPE_LINK_COMPACT_STATE,
      fid: 1,
      body: { $case: "linkCompactStateBody", value: { type: "follow", targetFids } },
    },
    accountSigner(1),
  );
}
