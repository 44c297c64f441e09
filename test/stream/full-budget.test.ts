import { expect, test } from "bun:test";
import { Budget } from "../../src/admission/budget.ts";
import type { StreamConnection } from "../../src/stream/connection.ts";
import { type Frame, KeepAliveFrame } from "../../src/stream/frame.ts";
import { NO_BLOCKS } from "../../src/stream/position.ts";
import { lastBytesSecs, sseBody } from "../../src/stream/sse.ts";
import { streamSocket } from "../../src/stream/web-socket.ts";

const frameAt = (seq: number): Frame => new KeepAliveFrame({ logId: "log", seq, blocks: NO_BLOCKS });

/** A stream whose frame waits for the budget of all responses when it ends with another. */
function waitingStream() {
  const taken: Frame[][] = [[frameAt(1)]];
  const unsent = new Budget({ unit: "bytes", total: 1, perClient: 1 });
  const connection = {
    hasEnded: false,
    endReason: "expression_budget",
    next: async () => taken.shift() ?? [],
    restartStallTime: () => undefined,
    end: () => undefined,
    onEndWhileSending: undefined as (() => void) | undefined,
  };
  return {
    unsent,
    connection: connection as unknown as StreamConnection,
    async end() {
      await Bun.sleep(1);
      connection.hasEnded = true;
      taken.push([frameAt(2)]);
      connection.onEndWhileSending?.();
      await Bun.sleep(150);
    },
  };
}

test("the last frame over server-sent events is sent after those that waited for the budget", async () => {
  const { unsent, connection, end } = waitingStream();
  const timeouts: number[] = [];
  const body = new Response(
    sseBody(connection, { unsent: unsent.open("reader"), setIdleTimeout: (secs) => timeouts.push(secs) }),
  ).text();
  await end();
  // When the stream ends and when its last frame is sent: a slow client has long enough for what was handed out before, too.
  expect(timeouts).toEqual([lastBytesSecs(connection), lastBytesSecs(connection)]);
  const ids = [frameAt(1), frameAt(2)].map(({ sse }) => Buffer.from(sse).toString());
  expect(await body).toBe(`retry: 3000\n${ids.join("")}`);
  expect(unsent.use().held).toBe(0);
});

test("the last frame over a WebSocket is sent after those that waited for the budget", async () => {
  const { unsent, connection, end } = waitingStream();
  const sent: string[] = [];
  const session = streamSocket(
    { connection, subscribe: () => Promise.reject(new Error("not called")) },
    {
      unsent: unsent.open("reader"),
      waitsForSubscription: false,
      readSubscription: () => ({ ok: true, value: {} }),
    },
  );
  session.opened({
    send: (text) => sent.push(String(text)),
    ping: () => 0,
    close: () => undefined,
    terminate: () => undefined,
    getBufferedAmount: () => 0,
  });
  await end();
  expect(sent).toEqual([frameAt(1), frameAt(2)].map(({ webSocket }) => webSocket));
  session.closed();
  expect(unsent.use().held).toBe(0);
});
