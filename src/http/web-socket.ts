/** The other end of a WebSocket. */
export type WebSocketPeer = Pick<
  Bun.ServerWebSocket<WebSocketSession>,
  "send" | "ping" | "close" | "terminate" | "getBufferedAmount"
>;

/** What a route does with one WebSocket. */
export interface WebSocketSession {
  opened(peer: WebSocketPeer): void;
  received(message: string | Uint8Array): void;
  /** Called when buffered bytes have been sent. */
  drained(): void;
  closed(): void;
}

/** Larger than any message of a client that a route accepts. */
const MAX_MESSAGE_BYTES = 256 * 1024;
/** Beyond this a message is dropped. Sessions wait for the socket long before that. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;
/** A client that has not responded to a ping for this long is considered disconnected. */
const IDLE_TIMEOUT_SECS = 120;

/** Maximum number of pings and pongs of a client in a window. Clients send one every few seconds. */
const MAX_CONTROL_FRAMES = 100;
const CONTROL_WINDOW_MS = 10_000;

interface ControlFrames {
  readonly sinceMs: number;
  readonly count: number;
}

const controlFrames = new WeakMap<WebSocketSession, ControlFrames>();

/**
 * Ends a WebSocket whose client floods it with pings or pongs. Bun responds to each ping with a system call, outside of the order of
 * requests, and buffers what the client does not read, outside of the budget of unsent bytes.
 */
function countControlFrame(peer: Pick<Bun.ServerWebSocket<WebSocketSession>, "data" | "terminate">): void {
  const nowMs = performance.now();
  const last = controlFrames.get(peer.data);
  const isSame = last !== undefined && nowMs - last.sinceMs < CONTROL_WINDOW_MS;
  const { sinceMs, count } = isSame ? last : { sinceMs: nowMs, count: 0 };
  controlFrames.set(peer.data, { sinceMs, count: count + 1 });
  if (count >= MAX_CONTROL_FRAMES) peer.terminate();
}

/** The handler of all WebSockets of a server. Nothing is compressed: contexts for many connections cost more than they save. */
export const webSocketHandler: Bun.WebSocketHandler<WebSocketSession> = {
  maxPayloadLength: MAX_MESSAGE_BYTES,
  backpressureLimit: MAX_BUFFERED_BYTES,
  idleTimeout: IDLE_TIMEOUT_SECS,
  sendPings: true,
  perMessageDeflate: false,
  open: (peer) => peer.data.opened(peer),
  message: (peer, message) => peer.data.received(message),
  drain: (peer) => peer.data.drained(),
  ping: countControlFrame,
  pong: countControlFrame,
  close: (peer) => peer.data.closed(),
};
