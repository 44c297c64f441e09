import { expect, test } from "bun:test";
import { CALL_PRICE } from "../../../src/hub/receive/frame-meter.ts";
import { ReceiveQueue } from "../../../src/hub/receive/receive-queue.ts";
import {
  callHeaders,
  END_HEADERS,
  END_STREAM,
  FRAME_TYPES,
  frame,
  framesIn,
  opening,
} from "../../support/hub-clients/raw-http2.ts";

const CALLS = 20;
const PREFACE_BYTES = 24;

const headers = callHeaders("/HubService/GetInfo", "node");
const sent = Buffer.concat([
  opening(),
  ...Array.from({ length: CALLS }, (_, n) => [
    frame("headers", END_HEADERS, 2 * n + 1, headers),
    frame("data", END_STREAM, 2 * n + 1, Buffer.alloc(5)),
  ]).flat(),
]);

const callsIn = (bytes: Buffer) =>
  framesIn(bytes.subarray(PREFACE_BYTES)).filter(({ type }) => type === FRAME_TYPES.headers).length;

test.each([1, 7, 9, 10, 64, 1000, sent.length])(
  "bytes that arrive %p at a time are forwarded unchanged, one call at a time",
  (partBytes) => {
    const forwarded: Buffer[] = [];
    const queue = new ReceiveQueue((bytes) => forwarded.push(bytes));
    for (let at = 0; at < sent.length; at += partBytes) queue.push(sent.subarray(at, at + partBytes));
    for (let passes = 1; !queue.isEmpty; passes++) {
      queue.pass(CALL_PRICE);
      expect(callsIn(Buffer.concat(forwarded))).toBeLessThanOrEqual(passes);
    }
    expect(Buffer.concat(forwarded).equals(sent)).toBe(true);
    expect(queue.bytes).toBe(0);
  },
);

test.each([
  ["data without an end", frame("data", 0, 1), 32],
  ["pings", frame("ping", 0, 0, Buffer.alloc(8)), 32],
  ["resets", frame("reset", 0, 1, Buffer.alloc(4)), 2],
  ["settings", frame("settings", 0, 0), 2],
  ["headers of 16 kB", frame("headers", END_HEADERS, 1, Buffer.alloc(16 * 1024)), 1],
  ["data of 16 kB", frame("data", 0, 1, Buffer.alloc(16 * 1024)), 7],
])("%s have a price, so that no kind of frame fills a turn", (_, one, framesPerCall) => {
  const forwarded: Buffer[] = [];
  const queue = new ReceiveQueue((bytes) => forwarded.push(bytes));
  queue.push(opening());
  queue.pass(CALL_PRICE);
  forwarded.length = 0;
  queue.push(Buffer.concat(Array<Buffer>(100).fill(one)));
  queue.pass(CALL_PRICE);
  expect(framesIn(Buffer.concat(forwarded)).length).toBe(framesPerCall);
});

test("a connection that is closed while its bytes are forwarded forwards no more", () => {
  const forwarded: Buffer[] = [];
  const queue = new ReceiveQueue((bytes) => {
    forwarded.push(bytes);
    queue.clear();
  });
  for (let n = 0; n < 3; n++) queue.push(sent);
  queue.pass(Number.POSITIVE_INFINITY);
  expect([forwarded.length, queue.isEmpty, queue.bytes]).toEqual([1, true, 0]);
});
