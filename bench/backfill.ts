import { join } from "node:path";
import { Client, credentials } from "@grpc/grpc-js";
import {
  FidRequest,
  FidsRequest,
  FidsResponse,
  FidTimestampRequest,
  MessagesResponse,
  OnChainEventRequest,
} from "../src/protocol/wire/generated/state.ts";
import { compileInto, DIST, type RunningNode, startNode, tempDir } from "../test/support/program.ts";
import { DATA_SHARDS } from "../test/support/upstream/shards.ts";
import { type BackfillSet, backfillSet, firstMessages } from "./backfill-set.ts";
import { bareInsertRate, bareVerifyRate } from "./bare-ingest.ts";
import type { Figure } from "./main.ts";
import { median, rssOf } from "./start.ts";

const RUNS = Number(process.env.BENCH_RUNS ?? 3);
const CALLS_AT_ONCE = 32;
const PAGE = 1000;
const LOOK_MS = 250;
/** Number of messages for the bare verification and bare inserts. */
const BARE_MESSAGES = 20_000;
const BARE_ROWS_PER_COMMIT = 1000;

/**
 * Measures how many messages per second the compiled binary backfills from a scripted upstream, verified, merged and
 * durable, and its memory meanwhile. The baselines are a client that makes the same calls at the same concurrency and
 * discards the responses, bare verification, and bare inserts of rows. Upstream, client and node are separate processes on
 * the same cores; runs are interleaved. BENCH_MESSAGES sets the approximate number of messages.
 */
export async function benchBackfill(): Promise<Figure[]> {
  const set = await backfillSet(Number(process.env.BENCH_MESSAGES ?? 200_000));
  await using upstream = await startUpstream(set);
  const sample = await firstMessages(set, BARE_MESSAGES);
  const bareRates = { received: [] as number[], verified: [] as number[], inserted: [] as number[] };
  const nodeRates: number[] = [];
  const memory: Memory[] = [];
  for (let run = 0; run < RUNS; run++) {
    bareRates.received.push(set.messages / (await receiveAll(upstream.address)));
    bareRates.verified.push(bareVerifyRate(sample));
    bareRates.inserted.push(bareInsertRate(sample, BARE_ROWS_PER_COMMIT));
    const { secs, rss } = await backfill(set, upstream.address);
    nodeRates.push(set.messages / secs);
    memory.push(rss);
  }
  const bare = {
    received: "receive and discard",
    verified: "bare verification",
    inserted: "bare row inserts",
  };
  const backfilled = (what: string, baseline: keyof typeof bare): Figure => ({
    what,
    value: median(nodeRates),
    unit: "messages/s",
    ratio: {
      of: bare[baseline],
      value: median(nodeRates.map((rate, run) => rate / (bareRates[baseline][run] ?? Number.NaN))),
    },
  });
  const rss = (what: string, of: (memory: Memory) => number): Figure => ({
    what: `resident memory, ${what}`,
    value: median(memory.map(of)) / 1e6,
    unit: "MB",
  });
  return [
    { what: "messages", value: set.messages, unit: `of ${set.fids} fids` },
    { what: `${bare.received}, median of ${RUNS}`, value: median(bareRates.received), unit: "messages/s" },
    { what: `${bare.verified}, one core`, value: median(bareRates.verified), unit: "messages/s" },
    {
      what: `${bare.inserted}, ${BARE_ROWS_PER_COMMIT} a commit, durable`,
      value: median(bareRates.inserted),
      unit: "rows/s",
    },
    backfilled("backfill, durable", "received"),
    backfilled("the same", "verified"),
    backfilled("the same", "inserted"),
    rss("at 25 % of the messages", ({ quarter }) => quarter),
    rss("at 50 %", ({ half }) => half),
    rss("at the end", ({ end }) => end),
    rss("at most", ({ most }) => most),
  ];
}

/** A scripted upstream. */
export interface ScriptedUpstream extends AsyncDisposable {
  readonly address: string;
  /** Returns the number of unary calls since the previous request. */
  calls(): Promise<number>;
}

/**
 * Starts the scripted upstream in a separate process.
 *
 * @param options see `processes/backfill-upstream.ts`.
 */
export async function startUpstream(
  set: Pick<BackfillSet, "dir">,
  options: Readonly<Record<string, string>> = {},
): Promise<ScriptedUpstream> {
  const child = Bun.spawn(
    [
      process.execPath,
      join(import.meta.dir, "processes/backfill-upstream.ts"),
      set.dir,
      JSON.stringify(options),
    ],
    { stdin: "pipe", stdout: "pipe", stderr: "inherit" },
  );
  const reader = child.stdout.getReader();
  const line = async () => new TextDecoder().decode((await reader.read()).value).trim();
  const port = await line();
  return {
    address: `127.0.0.1:${port}`,
    async calls() {
      child.stdin.write("calls\n");
      await child.stdin.flush();
      return Number(await line());
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** Resident bytes during a backfill. */
interface Memory {
  quarter: number;
  half: number;
  end: number;
  most: number;
}

/** Starts a node with an empty index and waits until the backfill is complete. */
async function backfill(set: BackfillSet, address: string): Promise<{ secs: number; rss: Memory }> {
  using dir = tempDir();
  const startedAt = performance.now();
  await using node = await startNode({
    command: [await compileInto(DIST)],
    dataDir: `${dir.path}/data`,
    args: [
      "--set",
      `upstream.url=http://${address}`,
      "--set",
      "trust.level=node",
      "--set",
      `upstream.concurrency=${CALLS_AT_ONCE}`,
    ],
  });
  const rss: Memory = { quarter: 0, half: 0, end: 0, most: 0 };
  for (;;) {
    await Bun.sleep(LOOK_MS);
    const merged = await messagesOf(node);
    const bytes = rssOf(node.pid);
    rss.most = Math.max(rss.most, bytes);
    if (merged >= set.messages / 4) rss.quarter ||= bytes;
    if (merged >= set.messages / 2) rss.half ||= bytes;
    if (merged < set.messages) continue;
    rss.end = bytes;
    return { secs: (performance.now() - startedAt) / 1000, rss };
  }
}

async function messagesOf(node: RunningNode): Promise<number> {
  const response = await fetch(`${node.url}/status`);
  const { index } = (await response.json()) as { index: { rows: { messages?: number } } };
  return index.rows.messages ?? 0;
}

const MESSAGE_METHODS = [
  "GetAllCastMessagesByFid",
  "GetAllReactionMessagesByFid",
  "GetAllLinkMessagesByFid",
  "GetAllVerificationMessagesByFid",
  "GetAllUserDataMessagesByFid",
  "GetAllLendStorageMessagesByFid",
  "GetLinkCompactStateMessageByFid",
];
const EVENT_TYPES = [1, 3, 4, 5];

/** Makes the calls of a backfill and reads only the page tokens. Returns the elapsed seconds. */
async function receiveAll(address: string): Promise<number> {
  const client = new Client(address, credentials.createInsecure(), {
    "grpc.max_receive_message_length": 64 * 1024 * 1024,
  });
  const startedAt = performance.now();
  const fids: number[] = [];
  for (const shardId of DATA_SHARDS) {
    let pageToken: Uint8Array | undefined;
    do {
      const request = FidsRequest.encode({ shardId, pageSize: PAGE, pageToken, reverse: undefined }).finish();
      const page = FidsResponse.decode(await call(client, "GetFids", request));
      fids.push(...page.fids);
      pageToken = page.nextPageToken;
    } while (pageToken);
  }
  const receive = async () => {
    for (let fid = fids.pop(); fid !== undefined; fid = fids.pop()) await receiveFid(client, fid);
  };
  // The calls for one fid are sequential, so the number of concurrent fids is the number of concurrent calls.
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, receive));
  client.close();
  return (performance.now() - startedAt) / 1000;
}

async function receiveFid(client: Client, fid: number): Promise<void> {
  for (const eventType of EVENT_TYPES)
    await call(
      client,
      "GetOnChainEvents",
      OnChainEventRequest.encode(OnChainEventRequest.fromPartial({ fid, eventType })).finish(),
    );
  const byFid = FidRequest.encode(FidRequest.fromPartial({ fid })).finish();
  await call(client, "GetUserNameProofsByFid", byFid);
  await call(client, "GetSignersByFid", byFid);
  for (const method of MESSAGE_METHODS) {
    let pageToken: Uint8Array | undefined;
    do {
      const request = FidTimestampRequest.fromPartial({ fid, pageSize: PAGE, pageToken });
      const response = await call(client, method, FidTimestampRequest.encode(request).finish());
      pageToken =
        response.length > LEAST_FULL_PAGE ? MessagesResponse.decode(response).nextPageToken : undefined;
    } while (pageToken);
  }
}

/** A shorter response cannot be a full page. */
const LEAST_FULL_PAGE = PAGE * 100;

function call(client: Client, method: string, request: Uint8Array): Promise<Buffer> {
  const asBuffer = (bytes: Buffer) => bytes;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  client.makeUnaryRequest(
    `/HubService/${method}`,
    asBuffer,
    asBuffer,
    Buffer.from(request),
    (cause, response) => (cause || !response ? reject(cause ?? new Error("no response")) : resolve(response)),
  );
  return promise;
}
