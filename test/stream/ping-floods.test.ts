import { expect, test } from "bun:test";
import { connect } from "node:net";
import { startTestStreams } from "../support/streams.ts";

const PING = 0x89;
const PONG = 0x8a;
const TEXT = 0x81;
/** A masked frame, whose mask is zero. */
const frameOf = (kind: number, text = "") =>
  Buffer.concat([Buffer.from([kind, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);
/** How the server sends an empty pong. */
const SENT_PONG = Buffer.from([PONG, 0]);

/** Opens a stream over a WebSocket, sends frames, and collects what arrives until the server closes the connection. */
async function sendFrames(port: number, path: string, frames: Buffer): Promise<Buffer> {
  const parts: Buffer[] = [];
  const socket = connect(port, "127.0.0.1");
  const fields = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13";
  const head = `GET ${path} HTTP/1.1\r\nHost: x\r\n${fields}\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`;
  socket.write(head);
  let isUpgraded = false;
  socket.on("data", (data: Buffer) => {
    parts.push(data);
    if (isUpgraded) return;
    isUpgraded = true;
    socket.write(frames);
  });
  socket.on("error", () => undefined);
  await new Promise((resolve) => socket.on("close", resolve));
  return Buffer.concat(parts);
}

test("a client may send a hundred pings and pongs in ten seconds; a flood of them ends its WebSocket", async () => {
  await using bench = startTestStreams();
  const { pathname, search, port } = new URL(bench.url("kinds=cast.created"));
  const send = (frames: readonly Buffer[]) =>
    sendFrames(Number(port), `${pathname}${search}`, Buffer.concat(frames));
  const many = (count: number, kind: number) => Array<Buffer>(count).fill(frameOf(kind));
  const pongsIn = (received: Buffer) => {
    let count = 0;
    for (let at = received.indexOf(SENT_PONG); at >= 0; at = received.indexOf(SENT_PONG, at + 2)) count += 1;
    return count;
  };

  const few = await send([...many(60, PING), ...many(40, PONG), frameOf(TEXT, "{}")]);
  expect(pongsIn(few)).toBe(60);
  expect(few.toString("latin1")).toContain("unsupported message");
  for (const kind of [PING, PONG]) {
    const flood = await send([...many(5_000, kind), frameOf(TEXT, "{}")]);
    expect(pongsIn(flood)).toBeLessThanOrEqual(101);
    expect(flood.toString("latin1")).not.toContain("unsupported message");
  }
});
