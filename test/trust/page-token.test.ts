import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { SnapshotEntry } from "../../src/protocol/wire/generated/snapshot.ts";
import {
  accountToken,
  decodePageToken,
  encodePageToken,
  restOfAccount,
  tokenAfter,
  tokensBetween,
} from "../../src/trust/page-token.ts";
import { fidOfKey, messageKey, virtualShardOf } from "../../src/trust/trie-key.ts";
import { SnapshotTree } from "../support/upstream/snapshot-tree.ts";

const VIRTUAL_SHARD = virtualShardOf(1);
/** Accounts of one virtual shard. */
const FIDS = Array.from({ length: 4000 }, (_, n) => n + 1).filter(
  (fid) => virtualShardOf(fid) === VIRTUAL_SHARD,
);
const TYPES = [1, 3, 5, 11, 16];

function entriesOf(fid: number): SnapshotEntry[] {
  const nothing = { onChainEvent: undefined, fnameTransfer: undefined };
  return TYPES.flatMap((type) =>
    Array.from({ length: 3 }, (_, n) => {
      const hash = Buffer.alloc(20, `${fid} ${type} ${n}`);
      return { key: messageKey(fid, type, hash), message: new Uint8Array(), ...nothing };
    }),
  );
}

/** No account has a message of a gasless key but the given one. */
function treeWithKeysOf(unreadable: number): SnapshotTree {
  const isKept = ({ key }: SnapshotEntry) => key[5] !== 0x80 || fidOfKey(key) === unreadable;
  return new SnapshotTree(FIDS.flatMap(entriesOf).filter(isKept));
}

/** Reads all pages from a token on. */
function keysFrom(tree: SnapshotTree, token: string | undefined, perPage = 1000): string[] {
  const keys: string[] = [];
  for (let next = token, isFirst = true; isFirst || next; isFirst = false) {
    const page = tree.page(VIRTUAL_SHARD, next, perPage);
    keys.push(...page.entries.map(({ key }) => key.toHex()));
    next = page.nextPageToken;
  }
  return keys;
}

describe("tokens that are made by hand", () => {
  test("read what is before an account, its other subtrees, and what is after it: together every other key, in order", () => {
    fc.assert(
      fc.property(fc.constantFrom(...FIDS), fc.nat(200), (unreadable, before) => {
        const tree = treeWithKeysOf(unreadable);
        const all = FIDS.flatMap(entriesOf).filter(({ key }) => key[5] !== 0x80);
        const expected = all.map(({ key }) => key.toHex()).toSorted();
        // Some pages are read before one fails.
        const read: string[] = [];
        let place: string | undefined;
        try {
          for (let pages = 0; pages < before; pages++) {
            const page = tree.page(VIRTUAL_SHARD, place, 4);
            read.push(...page.entries.map(({ key }) => key.toHex()));
            if (!page.nextPageToken) break;
            place = page.nextPageToken;
          }
        } catch {
          // This page has the gasless key.
        }
        const from = place === undefined ? undefined : decodePageToken(place);
        const last = read.at(-1);
        if (last && fidOfKey(Buffer.from(last, "hex")) > unreadable) return;
        const around = [
          ...tokensBetween(from, unreadable, FIDS),
          restOfAccount(from, unreadable) ?? accountToken(unreadable, [0, 1, 2, 5]),
          tokenAfter(unreadable, FIDS),
        ];
        for (const token of around) read.push(...keysFrom(tree, encodePageToken(token)));
        expect(read).toEqual(expected);
      }),
      { numRuns: 25 },
    );
  });

  test("are decoded as they were encoded", () => {
    const nibbles = fc.array(fc.nat(15), { maxLength: 16 });
    const levels = fc.array(nibbles, { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(levels, (all) => {
        const token = { path: all.slice(1).map(() => 7), levels: all };
        expect(decodePageToken(encodePageToken(token))).toEqual(token);
      }),
    );
  });

  test("other texts are not tokens", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String({ maxLength: 60 })), (text) => {
        const token = decodePageToken(text);
        if (token) expect(token.path.length).toBe(token.levels.length - 1);
      }),
    );
    expect(decodePageToken("")).toBeUndefined();
    expect(decodePageToken(Buffer.from([255, 255, 255, 255]).toString("base64"))).toBeUndefined();
  });
});
