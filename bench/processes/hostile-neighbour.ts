/** A client at full force on one surface: `hostile-neighbour.ts <surface> <url> <hub address>`. It runs until it is killed. */
import { connect } from "node:net";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { FidRequest } from "../../src/protocol/wire/generated/state.ts";

export const SURFACES = ["reads", "uploads", "sends", "signed", "lists", "streams"] as const;
export type Surface = (typeof SURFACES)[number];

const ADDRESS = "203.0.113.66";
const FROM = { "x-forwarded-for": ADDRESS };
const CONNECTIONS = 64;
const UPLOADS = 400;

async function forever(task: () => Promise<unknown>): Promise<never> {
  for (;;) await task().catch(() => Bun.sleep(5));
}

function flood(connections: number, task: () => Promise<unknown>): void {
  for (let n = 0; n < connections; n += 1) void forever(task);
}

const readAll = async (response: Promise<Response>) => (await response).arrayBuffer();

const ATTACKS: Readonly<Record<Surface, (url: string, hubAddress: string) => void>> = {
  reads(url) {
    let n = 0;
    flood(CONNECTIONS, () =>
      readAll(
        fetch(`${url}/v2/svc/feed/following?fid=${2 + (n++ % 20)}&limit=100&unused=${n}`, { headers: FROM }),
      ),
    );
  },
  uploads(url) {
    const { hostname, port } = new URL(url);
    const head = `POST /v1/submitBulkMessages HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${ADDRESS}\r\nContent-Length: 4000000\r\n\r\n`;
    const body = Buffer.alloc(3_999_999);
    flood(
      UPLOADS,
      () =>
        new Promise<void>((resolve) => {
          const socket = connect(Number(port), hostname);
          socket.on("error", () => undefined);
          socket.on("close", () => setTimeout(resolve, 5));
          socket.write(head);
          socket.write(body);
        }),
    );
  },
  sends(url) {
    const body = new Uint8Array(1_000_000);
    flood(CONNECTIONS, () =>
      readAll(fetch(`${url}/v2/svc/frame/notifications/nobody`, { method: "POST", body, headers: FROM })),
    );
  },
  signed(url) {
    const headers = {
      ...FROM,
      "x-svc-fid": "2",
      "x-svc-op": "session.create",
      "x-svc-signature": `0x${"11".repeat(64)}1b`,
    };
    flood(CONNECTIONS, () =>
      readAll(
        fetch(`${url}/v2/svc/session`, {
          method: "POST",
          body: "{}",
          headers: {
            ...headers,
            "x-svc-signed-at": String(Math.floor(Date.now() / 1000)),
            "x-svc-nonce": `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("hex")}`,
          },
        }),
      ),
    );
  },
  lists(_url, hubAddress) {
    const metadata = new Metadata();
    metadata.set("x-forwarded-for", ADDRESS);
    for (let n = 0; n < 8; n += 1) {
      const client = new Client(hubAddress, credentials.createInsecure(), {
        "grpc.use_local_subchannel_pool": 1,
      });
      flood(
        64,
        () =>
          new Promise<void>((resolve) =>
            client.makeUnaryRequest(
              "/HubService/GetCastsByFid",
              (fid: number) => Buffer.from(FidRequest.encode(FidRequest.fromPartial({ fid })).finish()),
              (bytes: Buffer) => bytes,
              2,
              metadata,
              () => resolve(),
            ),
          ),
      );
    }
  },
  streams(url) {
    let n = 0;
    flood(CONNECTIONS, () =>
      readAll(
        fetch(`${url}/v2/svc/stream?text=${encodeURIComponent(`(?i)[a-z]{1,20}x${n++}`)}`, {
          method: "HEAD",
          headers: FROM,
        }),
      ),
    );
  },
};

if (import.meta.main) {
  const [surface, url = "", hubAddress = ""] = process.argv.slice(2);
  const attack = ATTACKS[surface as Surface];
  attack(url, hubAddress);
  await Bun.sleep(500);
  console.log("at full force");
}
