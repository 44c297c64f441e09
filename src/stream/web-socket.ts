import type { Hold } from "../admission/budget.ts";
import type { WebSocketPeer, WebSocketSession } from "../http/web-socket.ts";
import { parseJson } from "../lib/json.ts";
import type { Result } from "../lib/result.ts";
import type { Subscription } from "../webhooks/subscription.ts";
import type { EndReason } from "./connection.ts";
import { type Frame, KeepAliveFrame } from "./frame.ts";
import { lastBytesSecs, MAX_WAITING_BYTES, reserveBytes } from "./sse.ts";
import type { OpenStream } from "./streams.ts";

const CLOSE_CODES: Readonly<Record<EndReason, number>> = {
  client: 1000,
  complete: 1000,
  invalid_subscription: 4000,
  expression_budget: 4000,
  key_ended: 4001,
  slow_consumer: 4008,
  cursor_too_old: 4010,
  internal_error: 1011,
  shutdown: 1012,
};
const UNSUPPORTED_DATA = 1003;
const MIN_CHANGE_INTERVAL_MS = 1000;
const FIRST_MESSAGE_MS = 10_000;

export interface StreamSocketDeps {
  readonly unsent: Hold;
  /** Reads the subscription in a message. The error says what is wrong. */
  readonly readSubscription: (value: unknown) => Result<Subscription, string>;
  /** Whether the client sends its subscription as the first message. */
  readonly waitsForSubscription: boolean;
  readonly firstMessageMs?: number;
  readonly nowMs?: () => number;
}

/** Serves a stream over a WebSocket. Its client may replace the subscription with a message, at most once a second. */
export function streamSocket(stream: OpenStream, deps: StreamSocketDeps): WebSocketSession {
  const { connection } = stream;
  const { unsent, nowMs = () => performance.now() } = deps;
  let peer: WebSocketPeer | undefined;
  let onDrained: (() => void) | undefined;
  let changedAtMs = Number.NEGATIVE_INFINITY;
  let firstMessage: Timer | undefined;
  let lastBytes: Timer | undefined;
  let isClosed = false;

  function sendAll(to: WebSocketPeer, frames: readonly Frame[]): void {
    for (const frame of frames) {
      to.send(frame.webSocket);
      if (frame instanceof KeepAliveFrame) to.ping();
    }
  }

  async function send(to: WebSocketPeer): Promise<void> {
    for (;;) {
      const frames = await connection.next(MAX_WAITING_BYTES);
      if (isClosed) return;
      if (connection.hasEnded) limitLastBytes(to);
      if (frames.length === 0) break;
      const bytes = frames.reduce((sum, { size }) => sum + size, 0);
      await reserveBytes(unsent, bytes, connection);
      if (isClosed) return;
      sendAll(to, frames);
      while (to.getBufferedAmount() > 0 && !isClosed) await drained();
      unsent.shrinkTo(0);
    }
    const reason = connection.endReason ?? "internal_error";
    to.close(CLOSE_CODES[reason], reason);
  }

  /**
   * A close frame queued after other bytes would terminate the socket within seconds, so it is sent once they are, unless
   * the client takes none.
   */
  function limitLastBytes(to: WebSocketPeer): void {
    lastBytes ??= setTimeout(() => to.terminate(), lastBytesSecs(connection) * 1000).unref();
  }

  function drained(): Promise<void> {
    return new Promise((resolve) => {
      onDrained = resolve;
    });
  }

  async function change(text: string): Promise<void> {
    const message = parseJson(text);
    if (typeof message !== "object" || message === null || !("subscription" in message)) {
      peer?.close(UNSUPPORTED_DATA, "unsupported message");
      return;
    }
    if (nowMs() - changedAtMs < MIN_CHANGE_INTERVAL_MS) {
      connection.end("invalid_subscription", "the subscription may change once a second");
      return;
    }
    changedAtMs = nowMs();
    const subscription = deps.readSubscription(message.subscription);
    if (!subscription.ok) {
      connection.end("invalid_subscription", subscription.error);
      return;
    }
    clearTimeout(firstMessage);
    const changed = await stream.subscribe(subscription.value);
    if (!changed.ok)
      connection.end("invalid_subscription", `too many ${changed.error} are in use; try again`);
  }

  return {
    opened(to) {
      peer = to;
      connection.onEndWhileSending = () => limitLastBytes(to);
      if (deps.waitsForSubscription) {
        const expire = () => connection.end("invalid_subscription", "no subscription was sent");
        firstMessage = setTimeout(expire, deps.firstMessageMs ?? FIRST_MESSAGE_MS);
      }
      send(to).catch(() => connection.end("internal_error"));
    },
    received(message) {
      if (typeof message !== "string") peer?.close(UNSUPPORTED_DATA, "unsupported message");
      else
        change(message).catch(() => connection.end("internal_error", "the node could not change the stream"));
    },
    drained() {
      onDrained?.();
    },
    closed() {
      isClosed = true;
      clearTimeout(firstMessage);
      clearTimeout(lastBytes);
      unsent.end();
      connection.end("client");
      onDrained?.();
    },
  };
}
