import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import {
  type ClientReadableStream,
  getAdminRpcClient,
  getInsecureHubRpcClient,
  type HubEvent,
  type HubRpcClient,
  type ServiceError,
  Message as TheirMessage,
  OnChainEvent as TheirOnChainEvent,
} from "@farcaster/hub-nodejs";
import { blockOfEvent } from "../../src/protocol/hub-event-id.ts";
import { toFarcasterSecs } from "../../src/protocol/time.ts";
import { OnChainEvent } from "../../src/protocol/wire/generated/on-chain.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { registerEvent, rentEvent, signerEvent } from "../support/events.ts";
import { IS_LONG } from "../support/long.ts";
import { makeSigner, makeWallet, signedCast } from "../support/messages.ts";
import { startNode, tempDir } from "../support/program.ts";

/** Each message of a full store is pruned by the next one, so it has two events. */
const EVENTS = 200_000;
/** Fill the caches of the databases, which grow by themselves. */
const WARM_UP_EVENTS = 100_000;
const PAUSED_MS = 240_000;
/** The node ends a stream whose client takes nothing for five minutes. */
const STALLED_MS = 330_000;
const MAX_GROWTH_BYTES = 20_000_000;
const BATCH = 500;
const FIDS = Array.from({ length: 10 }, (_, at) => at + 1);

const dir = tempDir();
afterAll(() => dir[Symbol.dispose]());

// The suite has the same with shortened times, in one process (test/hub/events/subscribe.long.test.ts).
test.skipIf(!IS_LONG)(
  "a subscriber that reads nothing costs the node no memory while events pass, then gets all of them, and is disconnected if it never reads",
  async () => {
    const args = ["--set", "hub.admin=true", "--set", "http.workers=1"];
    await using node = await startNode({ command: compiledProgram, dataDir: `${dir.path}/data`, args });
    const nowSecs = Math.floor(Date.now() / 1000);
    await register(node.hubAddress, nowSecs);
    const hub = getInsecureHubRpcClient(node.hubAddress);
    const messages = casts(nowSecs);
    const atStart = residentBytes(node.pid);
    await submit(hub, messages, WARM_UP_EVENTS / 2);

    const withoutBefore = residentBytes(node.pid);
    await submit(hub, messages, EVENTS / 2);
    const growthWithout = residentBytes(node.pid) - withoutBefore;

    const before = residentBytes(node.pid);
    const startedMs = performance.now();
    const slow = await Paused.open(node.hubAddress);
    const stopped = await Paused.open(node.hubAddress);
    await submit(hub, messages, EVENTS / 2);
    await Bun.sleep(Math.max(0, PAUSED_MS - (performance.now() - startedMs)));
    const growth = residentBytes(node.pid) - before;
    console.log(
      `grew by ${inMb(withoutBefore - atStart)} while it warmed up, by ${inMb(growthWithout)} without subscribers, then by ${inMb(growth)}`,
    );
    expect(growth - Math.max(0, growthWithout)).toBeLessThan(MAX_GROWTH_BYTES);
    // The events wait in the log, not in buffers of the connections.
    expect(await lagEvents(node.url)).toBeGreaterThan(EVENTS / 2);

    const head = (await hub.getInfo({ dbStats: false }))._unsafeUnwrap().shardInfos[0]?.maxHeight ?? 0;
    const ids = await slow.idsUntilEndOf(head);
    expect(ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? 0))).toBe(true);
    expect(ids.length).toBeGreaterThanOrEqual(EVENTS);
    const blocks = new Set(ids.map(blockOfEvent));
    expect(blocks.size).toBe(Math.max(...blocks) - Math.min(...blocks) + 1);
    slow.close();

    await Bun.sleep(Math.max(0, STALLED_MS - (performance.now() - startedMs)));
    const { code, details } = await stopped.error();
    expect([code, details]).toEqual([8, "slow subscriber"]);
    stopped.close();
    hub.close();
  },
  1_200_000,
);

/** A subscriber on a connection of its own that stops reading at once, until it is asked to read. */
class Paused {
  readonly #client: HubRpcClient;
  readonly #stream: ClientReadableStream<HubEvent>;
  #onEvent: (event: HubEvent) => void = (event) => this.#early.push(event);
  /** What the library had taken when it was paused. */
  #early: HubEvent[] = [];

  private constructor(client: HubRpcClient, stream: ClientReadableStream<HubEvent>) {
    this.#client = client;
    this.#stream = stream;
    // The library takes everything into its memory until somebody reads.
    stream.on("data", (event: HubEvent) => this.#onEvent(event));
    stream.pause();
  }

  static async open(address: string): Promise<Paused> {
    const client = getInsecureHubRpcClient(address, { "grpc.use_local_subchannel_pool": 1 });
    const opened = await client.subscribe({ eventTypes: [], shardIndex: 1 });
    const stream = opened._unsafeUnwrap() as ClientReadableStream<HubEvent>;
    const subscribed = new Promise((resolve) => stream.once("metadata", resolve));
    const paused = new Paused(client, stream);
    await subscribed;
    return paused;
  }

  /** Reads everything up to the end of a block. Its confirmation is first and says how many events it has. */
  idsUntilEndOf(height: number): Promise<number[]> {
    const ids: number[] = [];
    let lastId = Number.POSITIVE_INFINITY;
    return new Promise((resolve, reject) => {
      this.#stream.on("error", reject);
      this.#read(({ id, blockConfirmedBody }) => {
        ids.push(id);
        if (blockConfirmedBody && blockOfEvent(id) === height)
          lastId = id + blockConfirmedBody.totalEvents - 1;
        if (id >= lastId) resolve(ids);
      });
    });
  }

  /** Reads until the stream ends with an error. */
  error(): Promise<ServiceError> {
    return new Promise((resolve) => {
      this.#stream.on("error", resolve);
      this.#read(() => undefined);
    });
  }

  #read(onEvent: (event: HubEvent) => void): void {
    this.#onEvent = onEvent;
    for (const event of this.#early.splice(0)) onEvent(event);
    this.#stream.resume();
  }

  close(): void {
    this.#stream.removeAllListeners("error").on("error", () => undefined);
    this.#stream.cancel();
    this.#client.close();
  }
}

/** Returns how many events the slowest subscriber has before it. */
async function lagEvents(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^\S*hub_subscriber_lag_events\S* (\d+)$/m.exec(metrics)?.[1]);
}

const inMb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

function residentBytes(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kib) * 1024;
}

/** Endless casts, those of an fid in the order of their time. */
function* casts(nowSecs: number): Generator<TheirMessage> {
  for (let serial = 0; ; serial++) {
    const fid = FIDS[serial % FIDS.length] ?? 1;
    const timestamp = toFarcasterSecs(nowSecs) - 40_000 + Math.floor(serial / FIDS.length);
    yield TheirMessage.decode(
      signedCast(fid, `cast ${serial}`, makeSigner(`slow subscriber ${fid}`), { timestamp }),
    );
  }
}

async function submit(hub: HubRpcClient, source: Iterator<TheirMessage>, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += BATCH) {
    const messages = Array.from({ length: BATCH }, () => source.next().value as TheirMessage);
    const result = (await hub.submitBulkMessages({ messages }))._unsafeUnwrap();
    expect(result.messages.filter(({ message }) => message === undefined)).toEqual([]);
  }
}

async function register(hubAddress: string, nowSecs: number): Promise<void> {
  const admin = await getAdminRpcClient(hubAddress);
  const at = nowSecs - 86_400;
  for (const fid of FIDS)
    for (const event of [
      registerEvent(fid, makeWallet(`slow subscriber ${fid}`).address, { block: 100 + fid, at }),
      signerEvent(fid, makeSigner(`slow subscriber ${fid}`).publicKey, { block: 200 + fid, at }),
      rentEvent(fid, 1, { block: 300 + fid, at }),
    ])
      (
        await admin.submitOnChainEvent(TheirOnChainEvent.decode(OnChainEvent.encode(event).finish()))
      )._unsafeUnwrap();
  admin.close();
}
