import { Client, credentials } from "@grpc/grpc-js";
import {
  createBadSubmits,
  createHostileRequests,
  createVanishingClients,
  type NodeAddress,
  readSlowly,
} from "./hostile.ts";
import { createMessages, type Target } from "./messages.ts";
import { createNodeClient, unary } from "./node-client.ts";
import { createOwner } from "./owner.ts";
import type { Receivers } from "./receivers.ts";
import { overEvents, overGrpc, overWebSocket } from "./streams.ts";
import type { Tally } from "./tally.ts";

/** Everything that clients do to a node during a soak, at fixed rates. */
export interface Load {
  /** Starts no further work, and waits briefly for work in progress. */
  stop(): Promise<void>;
}

const MERGES_PER_SEC = 10;
/** Maximum number of calls of one kind in progress. Further ones are skipped and counted as failed. */
const MAX_AT_ONCE = 64;
const STOP_MS = 3000;
/** Pause before a client retries opening a stream. */
const RETRY_MS = 1000;

/** Reads other than those whose latency is measured. */
const READS = [
  "/v2/farcaster/feed/user/casts?fid=5&limit=25",
  "/v2/farcaster/user/bulk?fids=1,2,3,4,5,6,7,8",
  "/v1/castsByFid?fid=3",
  "/v1/reactionsByFid?fid=7&reaction_type=1",
  "/v2/svc/user/search?q=a&limit=10",
  "/v2/svc/feed/trending?limit=25",
  "/v2/svc/followers?fid=3&limit=25",
  "/v2/svc/cast/search?q=bread&limit=25",
  "/health",
  "/ready",
  "/status",
];
const PAGES = ["/console/api/pulse", "/console/api/series?range=hour", "/", "/console"];
const HUB_READS = ["GetCastsByFid", "GetUserDataByFid", "GetCurrentStorageLimitsByFid"];

/** Creates what the load needs and starts it. */
export async function startLoad(options: {
  readonly node: NodeAddress;
  readonly receivers: Receivers;
  readonly targets: readonly Target[];
  readonly tally: Tally;
}): Promise<Load> {
  const { node, receivers, targets, tally } = options;
  const client = createNodeClient(node.url);
  const hub = new Client(node.hubAddress, credentials.createInsecure());
  const owner = await createOwner({ client, receivers, tally });
  await owner.renewSession();
  const timers = new Set<ReturnType<typeof setInterval>>();
  const underWay = new Set<Promise<void>>();
  const over = new AbortController();

  /** Starts `action` at a fixed rate. */
  function every(ms: number, what: string, action: () => Promise<void>): void {
    let atOnce = 0;
    const timer = setInterval(() => {
      if (atOnce >= MAX_AT_ONCE) {
        tally.failed(what, `${MAX_AT_ONCE} under way`);
        return;
      }
      atOnce += 1;
      const one = action()
        .catch((cause) => tally.failed(what, cause))
        .finally(() => {
          atOnce -= 1;
          underWay.delete(one);
        });
      underWay.add(one);
    }, ms);
    timers.add(timer);
  }

  /** Repeats `action`, each time for some of the given seconds; `turn` numbers the repetitions. */
  async function always(
    what: string,
    { slot, minSecs, maxSecs }: { slot: number; minSecs: number; maxSecs: number },
    action: (until: AbortSignal, turn: number) => Promise<void>,
  ): Promise<void> {
    for (let turn = slot; !over.signal.aborted; turn += 7) {
      const secs = minSecs + ((turn * 11) % (maxSecs - minSecs));
      const until = new AbortController();
      const end = () => until.abort();
      const timer = setTimeout(end, secs * 1000);
      over.signal.addEventListener("abort", end);
      try {
        await action(until.signal, turn);
      } catch (cause) {
        tally.failed(what, cause);
        await Bun.sleep(RETRY_MS);
      } finally {
        clearTimeout(timer);
        over.signal.removeEventListener("abort", end);
      }
    }
  }

  const read = async (what: string, path: string) => {
    await (await client.call(path, { headers: { accept: "text/html,*/*" } })).arrayBuffer();
    tally.done(what);
  };
  const next = createMessages(targets);
  const nextMessage = () => {
    const { bytes, hash, isCast } = next();
    if (isCast) receivers.expect(hash);
    return bytes;
  };
  const writeOverHttp = () => {
    const headers = { "x-api-key": owner.writeKey, "content-type": "application/octet-stream" };
    const init = { method: "POST", headers, body: new Uint8Array(nextMessage()) };
    return tally.timed("write over HTTP", async () =>
      (await client.call("/v2/farcaster/message/", init)).arrayBuffer(),
    );
  };
  const turns = { reads: 0, pages: 0, hub: 0 };
  const readHub = async () => {
    const fid = 1 + (turns.hub++ % 200);
    // The fid is field 1 of each request, a varint.
    const request = Buffer.from(fid < 128 ? [8, fid] : [8, 128 | (fid & 127), fid >> 7]);
    const method = HUB_READS[turns.hub % HUB_READS.length];
    await tally.timed("gRPC read", () => unary(hub, `/HubService/${method}`, request));
  };
  const slots = (count: number) => Array.from({ length: count }, (_, slot) => slot);
  const loops = [
    ...slots(3).map((slot) =>
      always("event stream", { slot, minSecs: 5, maxSecs: 45 }, (until) =>
        overEvents(node.url, until, tally),
      ),
    ),
    ...slots(3).map((slot) =>
      always("WebSocket", { slot, minSecs: 5, maxSecs: 45 }, (until, turn) =>
        overWebSocket(node.url, until, turn % 2 === 0, tally),
      ),
    ),
    ...slots(2).map((slot) =>
      always("subscription", { slot, minSecs: 4, maxSecs: 34 }, (until) =>
        overGrpc(node.hubAddress, until, tally),
      ),
    ),
    ...slots(2).map((slot) =>
      always("slow reader", { slot, minSecs: 10, maxSecs: 30 }, (until) => readSlowly(node, until, tally)),
    ),
  ];
  every(1000 / MERGES_PER_SEC, "submit", () =>
    tally.timed("submit", () => unary(hub, "/HubService/SubmitMessage", nextMessage())),
  );
  every(1000, "write over HTTP", writeOverHttp);
  every(250, "other reads", () => read("other reads", READS[turns.reads++ % READS.length] ?? ""));
  every(250, "gRPC read", readHub);
  every(2500, "console polls", () => read("console polls", PAGES[turns.pages++ % PAGES.length] ?? ""));
  every(5000, "send", owner.send);
  every(20_000, "send to clients in trouble", owner.sendToTroubled);
  // A user may report 60 changes per hour.
  every(120_000, "tokens", owner.renewTokens);
  every(1000, "signed read", () => tally.timed("signed read", () => client.signed("GET", "/frame/app/list")));
  every(1000, "read by session", owner.readBySession);
  every(60_000, "sessions", owner.renewSession);
  every(15_000, "manage", owner.manage);
  every(1000, "hostile requests", createHostileRequests(node, tally));
  every(1500, "vanished clients", createVanishingClients(node, tally));
  every(1000, "refused submits", createBadSubmits(node, tally));

  return {
    async stop() {
      over.abort();
      for (const timer of timers) clearInterval(timer);
      await Promise.race([Promise.allSettled([...underWay, ...loops]), Bun.sleep(STOP_MS)]);
      hub.close();
    },
  };
}
