import { expect, test } from "bun:test";
import { blake3 } from "@noble/hashes/blake3.js";
import fc from "fast-check";
import {
  blockHash,
  messageHash,
  messageHashIn,
  TRIE_HASH_BYTES,
  writeTrieHash,
} from "../../src/protocol/message/message-hash.ts";

const expected = (data: Uint8Array) => blake3(data, { dkLen: 20 }).toHex();

// A wrong hash for one length would refuse every valid message of that length.
test("is BLAKE3 at every length up to and beyond a chunk", () => {
  const data = Uint8Array.from({ length: 2100 }, (_, index) => index % 251);
  for (let length = 0; length <= data.length; length++) {
    const part = data.subarray(0, length);
    expect(messageHash(part).toHex()).toBe(expected(part));
  }
});

test("is the same where the data is part of a buffer, and the first 20 of the 32 bytes of a block's hash", () => {
  const data = Uint8Array.from({ length: 2100 }, (_, index) => index % 251);
  for (let end = 7; end <= data.length; end++) {
    const hash = expected(data.subarray(7, end));
    expect(messageHashIn(data, 7, end).toHex()).toBe(hash);
    expect(blockHash(data.subarray(7, end)).toHex().slice(0, 40)).toBe(hash);
  }
});

test("the hash of a node of the trie is written where the caller wants it, and nothing beside it", () => {
  const node = Uint8Array.from({ length: 1024 }, (_, index) => index % 251);
  for (const length of [1, 64, 65, 1023, 1024]) {
    const out = new Uint8Array(TRIE_HASH_BYTES + 6).fill(0xee);
    writeTrieHash(node, length, out, 4);
    expect(out.toHex()).toBe(`eeeeeeee${expected(node.subarray(0, length))}eeee`);
  }
});

test("is BLAKE3 of any bytes at any offset of their buffer", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), fc.nat({ max: 9 }), (data, from) => {
      expect(messageHash(data.subarray(from)).toHex()).toBe(expected(data.subarray(from)));
    }),
  );
});

// From the test vectors of the BLAKE3 authors: no bytes, and the bytes 0 to 62.
test("matches the published test vectors", () => {
  expect(messageHash(new Uint8Array()).toHex()).toBe("af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9");
  expect(messageHash(Uint8Array.from({ length: 63 }, (_, index) => index)).toHex()).toBe(
    "e9bc37a594daad83be9470df7f7b3798297c3d83",
  );
});

test("returns a new array for each call", () => {
  const first = messageHash(Uint8Array.of(1));
  const kept = first.toHex();
  messageHash(Uint8Array.of(2));
  expect(first.toHex()).toBe(kept);
});
