import { expect, test } from "bun:test";
import { FollowedMessages } from "../../src/protocol/wire/generated/upstream.ts";
import { decodeSnapshotPage, withinItemLimit } from "../../src/upstream/client.ts";

function response(messages: number): Uint8Array {
  return FollowedMessages.encode({
    messages: Array.from({ length: messages }, () => new Uint8Array()),
    nextPageToken: undefined,
  }).finish();
}

test("a response may have as many items as the limit", () => {
  const bytes = response(5);
  expect(withinItemLimit(bytes, 5)).toBe(bytes);
  expect(() => withinItemLimit(bytes, 4)).toThrow("more than 4 items");
});

test("tens of millions of empty messages are refused without decoding them", () => {
  const bytes = Buffer.alloc(60_000_000).fill(Buffer.from([0x0a, 0x00]));
  expect(() => withinItemLimit(bytes)).toThrow("more than 100000 items");
});

test("malformed bytes are an error", () => {
  expect(() => withinItemLimit(Uint8Array.of(0x0a, 0xff))).toThrow();
});

test("a page of a snapshot that is larger than the limit is refused without decoding it", () => {
  expect(decodeSnapshotPage(new Uint8Array(), 4).entries).toEqual([]);
  expect(() => decodeSnapshotPage(Buffer.alloc(5).fill(0x0a), 4)).toThrow("a page of a snapshot has 5 bytes");
});
