/**
 * A client at full force on one surface: `hostile-neighbour.ts <JSON of Attack>`. Its first line says that it is at full
 * force. It ends when its standard input does, and its second line is the JSON of AttackRun.
 */
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { FidRequest } from "../../src/protocol/wire/generated/state.ts";

export const SURFACES = ["reads", "uploads", "reconnects", "sends", "signed", "lists", "streams"] as const;
export type Surface = (typeof SURFACES)[number];

export interface Attack {
  readonly surface: Surface;
  readonly url: string;
  readonly hubAddress: string;
  /**
   * Maximum number of attempts per second, so that two targets meet the same force. Default: as many as the target takes.
   */
  readonly maxPerSec?: number;
}

export interface AttackRun {
  readonly attemptsPerSec: number;
  readonly bytesPerSec: number;
}

/** What one client machine can send: a 1 Gbit/s line. */
const LINE_BYTES_PER_SEC = 125_000_000;
const MAX_BURST_BYTES = LINE_BYTES_PER_SEC / 500;
const ADDRESS = "203.0.113.66";
const FROM = { "x-forwarded-for": ADDRESS };
const CONNECTIONS = 64;
const UPLOADS = 400;
const BODY_BYTES = 4_000_000;
/** Takes the line half a millisecond. */
const PART_BYTES = 64 * 1024;
const WARM_UP_MS = 500;
/** Size of a request without a body, including its headers. */
const SMALL_BYTES = 300;

const {
  surface,
  url,
  hubAddress,
  maxPerSec = Number.POSITIVE_INFINITY,
} = JSON.parse(import.meta.main ? (process.argv[2] ?? "{}") : "{}") as Attack;
let attempts = 0;
let bytes = 0;
/** When the rate has room for the next attempt. */
let dueAtMs = performance.now();
/** Bytes for which the line has room now, and the parts waiting for it. */
let roomBytes = 0;
const waiting: (() => void)[] = [];

/** Waits until the rate has room for the next attempt. */
async function turn(): Promise<void> {
  const nowMs = performance.now();
  const atMs = Math.max(nowMs, dueAtMs);
  dueAtMs = atMs + 1000 / maxPerSec;
  if (atMs - nowMs >= 1) await Bun.sleep(atMs - nowMs);
}

/**
 * Waits until the line has room, in order. Parts that are due together take less than two milliseconds of the line, so that
 * no burst of many connections, or of a delayed sender, is faster than the line.
 */
async function send(partBytes: number): Promise<void> {
  if (waiting.length > 0 || roomBytes <= 0) {
    const turn = Promise.withResolvers<void>();
    waiting.push(turn.resolve);
    await turn.promise;
  }
  bytes += partBytes;
  roomBytes -= partBytes;
}

/** Takes back bytes that were not sent, because the system had no room for them. */
function sendLess(unsentBytes: number): void {
  bytes -= unsentBytes;
  roomBytes += unsentBytes;
}

async function openLine(): Promise<never> {
  for (let lastMs = performance.now(); ; ) {
    await Bun.sleep(1);
    const nowMs = performance.now();
    roomBytes = Math.min(roomBytes + ((nowMs - lastMs) / 1000) * LINE_BYTES_PER_SEC, MAX_BURST_BYTES);
    lastMs = nowMs;
    // Each takes its room before the next one is resumed.
    for (; roomBytes > 0 && waiting.length > 0; await undefined) waiting.shift()?.();
  }
}

async function forever(task: () => Promise<unknown>): Promise<never> {
  for (;;) {
    await turn();
    await task().then(
      () => {
        attempts += 1;
      },
      () => Bun.sleep(5),
    );
  }
}

function flood(connections: number, task: () => Promise<unknown>): void {
  for (let n = 0; n < connections; n += 1) void forever(task);
}

async function call(path: string, init: RequestInit & { readonly headers: Record<string, string> }) {
  await send(SMALL_BYTES + (init.body instanceof Uint8Array ? init.body.byteLength : 0));
  const response = await fetch(`${url}${path}`, init);
  await response.arrayBuffer();
}

const uploadHead = Buffer.from(
  `POST /v1/submitBulkMessages HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${ADDRESS}\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`,
);
/** All of an upload but its last byte. The attempts share it, because a copy for each would use up the machine's memory. */
const UPLOAD = Buffer.concat([uploadHead, Buffer.alloc(BODY_BYTES - 1)]);

/**
 * Opens a connection, and sends the head of an upload and at most `bodyBytes` bytes of its body, until the target closes.
 */
async function upload(bodyBytes: number): Promise<void> {
  const { hostname, port } = new URL(url);
  const all = UPLOAD.subarray(0, uploadHead.length + bodyBytes);
  const closed = Promise.withResolvers<void>();
  let sent = 0;
  let isOpen = true;
  let isWriting = false;
  /** Writes until the system has no room; `drain` continues. */
  const write = async (socket: Bun.Socket) => {
    if (isWriting) return;
    isWriting = true;
    while (isOpen && sent < all.length) {
      const part = all.subarray(sent, sent + PART_BYTES);
      await send(part.length);
      const written = isOpen ? Math.max(0, socket.write(part)) : 0;
      sent += written;
      sendLess(part.length - written);
      if (written < part.length) break;
    }
    isWriting = false;
  };
  await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: (socket) => write(socket),
      drain: (socket) => write(socket),
      data: () => undefined,
      end: (socket) => void socket.end(),
      error: () => closed.resolve(),
      close: () => {
        isOpen = false;
        closed.resolve();
      },
    },
  });
  await closed.promise;
}

const ATTACKS: Readonly<Record<Surface, () => void>> = {
  reads() {
    let n = 0;
    flood(CONNECTIONS, () =>
      call(`/v2/svc/feed/following?fid=${2 + (n++ % 20)}&limit=100&unused=${n}`, { headers: FROM }),
    );
  },
  uploads: () => flood(UPLOADS, () => upload(BODY_BYTES - 1)),
  /** Uploads whose sender waits for the refusal, and then reconnects. */
  reconnects: () => flood(UPLOADS, () => upload(0)),
  sends() {
    const body = new Uint8Array(1_000_000);
    flood(CONNECTIONS, () =>
      call("/v2/svc/frame/notifications/nobody", { method: "POST", body, headers: FROM }),
    );
  },
  signed() {
    const headers = {
      ...FROM,
      "x-svc-fid": "2",
      "x-svc-op": "session.create",
      "x-svc-signature": `0x${"11".repeat(64)}1b`,
    };
    flood(CONNECTIONS, () =>
      call("/v2/svc/session", {
        method: "POST",
        body: "{}",
        headers: {
          ...headers,
          "x-svc-signed-at": String(Math.floor(Date.now() / 1000)),
          "x-svc-nonce": `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("hex")}`,
        },
      }),
    );
  },
  lists() {
    const metadata = new Metadata();
    metadata.set("x-forwarded-for", ADDRESS);
    for (let n = 0; n < 8; n += 1) {
      const client = new Client(hubAddress, credentials.createInsecure(), {
        "grpc.use_local_subchannel_pool": 1,
      });
      flood(64, async () => {
        await send(SMALL_BYTES);
        await new Promise<void>((resolve) => {
          client.makeUnaryRequest(
            "/HubService/GetCastsByFid",
            (fid: number) => Buffer.from(FidRequest.encode(FidRequest.fromPartial({ fid })).finish()),
            (bytes: Buffer) => bytes,
            2,
            metadata,
            () => resolve(),
          );
        });
      });
    }
  },
  streams() {
    let n = 0;
    flood(CONNECTIONS, () =>
      call(`/v2/svc/stream?text=${encodeURIComponent(`(?i)[a-z]{1,20}x${n++}`)}`, {
        method: "HEAD",
        headers: FROM,
      }),
    );
  },
};

if (import.meta.main) {
  void openLine();
  ATTACKS[surface]();
  await Bun.sleep(WARM_UP_MS);
  [attempts, bytes] = [0, 0];
  const startedMs = performance.now();
  console.log("at full force");
  for await (const _ of Bun.stdin.stream()) {
    // Only the end of the response matters.
  }
  const secs = (performance.now() - startedMs) / 1000;
  console.log(JSON.stringify({ attemptsPerSec: attempts / secs, bytesPerSec: bytes / secs }));
  process.exit(0);
}
