import { connect } from "node:net";
import { Client, credentials } from "@grpc/grpc-js";
import type { Tally } from "./tally.ts";

/** The addresses of a node. */
export interface NodeAddress {
  readonly url: string;
  readonly hubAddress: string;
}

const GIVE_UP_MS = 5000;
const HUGE = "a".repeat(200_000);

/** Requests that no client should send. Any response is allowed. */
const REQUESTS: Readonly<Record<string, (host: string) => string>> = {
  "not HTTP": () => "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n",
  "huge header": (host) => `GET / HTTP/1.1\r\nhost: ${host}\r\nx-huge: ${HUGE}\r\n\r\n`,
  "huge path": (host) => `GET /v2/svc/user?fid=${HUGE.slice(0, 60_000)} HTTP/1.1\r\nhost: ${host}\r\n\r\n`,
  "broken percent-encoding": (host) =>
    `GET /v2/svc/user/by-username?username=%ff%zz HTTP/1.1\r\nhost: ${host}\r\n\r\n`,
  "path traversal": (host) => `GET /console/..%2f..%2fetc/passwd HTTP/1.1\r\nhost: ${host}\r\n\r\n`,
  "two lengths": (host) =>
    `POST /v1/submitMessage HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello!`,
  "length and chunks": (host) =>
    `POST /v1/submitMessage HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
  "body that never ends": (host) =>
    `POST /v2/svc/webhook HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 900000\r\n\r\n{"name": "`,
  "body too large": (host) =>
    `POST /v2/svc/webhook HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 90000000\r\n\r\n${HUGE}`,
  "deep JSON": (host) => {
    const body = "[".repeat(50_000);
    return `POST /v2/svc/frame/notifications/none HTTP/1.1\r\nhost: ${host}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  },
  "forged signature": (host) =>
    `GET /v2/svc/frame/app/list HTTP/1.1\r\nhost: ${host}\r\nx-svc-fid: 3\r\nx-svc-op: app.read\r\nx-svc-signed-at: ${Math.floor(
      Date.now() / 1000,
    )}\r\nx-svc-nonce: 0x${"ab".repeat(32)}\r\nx-svc-signature: 0x${"cd".repeat(65)}\r\n\r\n`,
  "unknown cursor": (host) =>
    `GET /v2/svc/feed/following?fid=3&cursor=${"x".repeat(500)} HTTP/1.1\r\nhost: ${host}\r\n\r\n`,
  "costly expression": (host) =>
    `GET /v2/svc/stream?text=${encodeURIComponent("(a|b|c){1,90}(x*)*$")} HTTP/1.1\r\nhost: ${host}\r\n\r\n`,
  "WebSocket of rubbish": (host) =>
    `GET /v2/svc/stream HTTP/1.1\r\nhost: ${host}\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n\xff\xff\xff\xff\xff\xff`,
  "unread response": (host) =>
    `${`GET /v2/svc/feed/trending?limit=25 HTTP/1.1\r\nhost: ${host}\r\n\r\n`.repeat(20)}`,
};

/** Sends the hostile requests in turn, each over a separate connection, and accepts any response. */
export function createHostileRequests(node: NodeAddress, tally: Tally): () => Promise<void> {
  const { host, port } = new URL(node.url);
  const entries = Object.entries(REQUESTS);
  let nth = 0;
  return async () => {
    const [what = "", request] = entries[nth++ % entries.length] ?? [];
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), "127.0.0.1");
      const end = () => {
        socket.destroy();
        resolve();
      };
      const timer = setTimeout(end, GIVE_UP_MS);
      socket.on("data", () => {
        // Most have received their response; the deadline closes what is still open.
        if (what !== "unread response" && what !== "WebSocket of rubbish") setTimeout(end, 50);
        else socket.pause();
      });
      socket.on("error", () => {});
      socket.on("close", () => {
        clearTimeout(timer);
        resolve();
      });
      socket.on("connect", () => socket.write(request?.(host) ?? "", "latin1"));
    });
    tally.done("hostile requests");
  };
}

/** Opens a connection, sends a request or half of one, and disconnects at once. */
export function createVanishingClients(node: NodeAddress, tally: Tally): () => Promise<void> {
  const { host, port } = new URL(node.url);
  const requests = [
    "GET /v2/svc/feed/following?fid=3&limit=100 HTTP/1.1\r\n",
    `GET /v2/svc/feed/following?fid=3&limit=100 HTTP/1.1\r\nhost: ${host}\r\n\r\n`,
    `GET /v2/svc/stream HTTP/1.1\r\nhost: ${host}\r\n\r\n`,
    `POST /v1/submitMessage HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/octet-stream\r\ncontent-length: 500\r\n\r\nabc`,
    "",
  ];
  let nth = 0;
  return async () => {
    const request = requests[nth++ % requests.length] ?? "";
    const isReset = nth % 2 === 0;
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), "127.0.0.1");
      socket.on("error", () => resolve());
      socket.on("close", () => resolve());
      socket.on("connect", () => {
        socket.write(request);
        setTimeout(() => (isReset ? socket.resetAndDestroy() : socket.destroy()), 5 * (nth % 4));
      });
    });
    tally.done("vanished clients");
  };
}

/** Opens a stream and does not read it until `signal` is aborted, then disconnects. */
export async function readSlowly(node: NodeAddress, signal: AbortSignal, tally: Tally): Promise<void> {
  const { host, port } = new URL(node.url);
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), "127.0.0.1");
    signal.addEventListener("abort", () => socket.destroy());
    socket.on("error", () => {});
    socket.on("close", () => resolve());
    socket.on("connect", () => {
      socket.pause();
      socket.write(`GET /v2/svc/stream HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
    });
  });
  tally.done("slow readers");
}

/** Submits bytes that are not messages, and messages with a forged signature, over gRPC. */
export function createBadSubmits(node: NodeAddress, tally: Tally): () => Promise<void> {
  const client = new Client(node.hubAddress, credentials.createInsecure());
  const same = (bytes: Buffer) => bytes;
  let nth = 0;
  return () => {
    nth += 1;
    const bytes =
      nth % 2 === 0
        ? Buffer.from(crypto.getRandomValues(new Uint8Array(1 + (nth % 2000))))
        : Buffer.alloc(nth % 900);
    return new Promise<void>((resolve) => {
      client.makeUnaryRequest("/HubService/SubmitMessage", same, same, bytes, (cause) => {
        if (cause) tally.done("refused submits");
        else tally.failed("bad submit", "was accepted");
        resolve();
      });
    });
  };
}
