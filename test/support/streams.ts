import { createAdmission } from "../../src/admission/admission.ts";
import type { Budget } from "../../src/admission/budget.ts";
import type { ApiDeps } from "../../src/api/deps.ts";
import { pluginOf } from "../../src/api/op.ts";
import { streamOperations } from "../../src/api/operations/stream/stream.ts";
import { indexPath, openIndexReader } from "../../src/db/index/database.ts";
import { startReservingHeight } from "../../src/db/index/identity.ts";
import { hasEventsAfter } from "../../src/db/index/log/outbox.ts";
import type { Gate } from "../../src/http/gate.ts";
import { EventSignal } from "../../src/ingest/thread/rpc.ts";
import { connectRpc } from "../../src/lib/port-rpc.ts";
import { HydrationCache } from "../../src/read/hydrate/cache.ts";
import { createStreamSlots, type StreamSlotLimits } from "../../src/stream/slots.ts";
import { createStreams, type Streams, type StreamsDeps } from "../../src/stream/streams.ts";
import { createMatchThread } from "../../src/webhooks/match/match-thread.ts";
import type { MatchBudget } from "../../src/webhooks/match/owner-budgets.ts";
import type { MatchRpc } from "../../src/webhooks/match/rpc.ts";
import { type RunHttpOptions, type RunningHttp, runHttp } from "./http.ts";
import { noBans, UNLIMITED } from "./matching.ts";
import { accountRecords, startTestNode, type TestNode } from "./node.ts";

export const LOG_ID = "a".repeat(32);
const MAX_IDS = 350;

export interface TestStreams extends AsyncDisposable {
  readonly node: TestNode;
  readonly http: RunningHttp;
  readonly streams: Streams;
  readonly unsent: Budget;
  /** The URL of the stream with a query. */
  url(query?: string): string;
}

export interface TestStreamOptions {
  readonly gate?: Gate;
  readonly limits?: Partial<StreamSlotLimits>;
  readonly budget?: MatchBudget;
  readonly deps?: Partial<StreamsDeps>;
  readonly http?: RunHttpOptions["http"];
  /** Fids with an account. */
  readonly fids?: readonly number[];
}

/** The stream over a test node, on real sockets, with the matching thread behind real ports. */
export function startTestStreams(options: TestStreamOptions = {}): TestStreams {
  const signal = new EventSignal();
  const node = startTestNode({ onEvents: () => signal.raise() });
  node.db.transaction(() => startReservingHeight(node.db, LOG_ID, 1));
  node.ingestAll((options.fids ?? [1, 2, 3]).flatMap((fid) => accountRecords(fid)));
  const db = openIndexReader(indexPath(node.dir));
  const thread = createMatchThread(options.budget ?? UNLIMITED);
  const connect = () => {
    const { port1, port2 } = new MessageChannel();
    thread.connect(port1);
    return connectRpc<MatchRpc>(port2);
  };
  const admission = createAdmission();
  const slots = createStreamSlots(
    { connections: 1000, connectionsPerAddress: 1000, ...options.limits },
    admission.budgets,
    () => 0,
  );
  const streams = createStreams({
    db,
    clock: node.clock,
    matching: { live: connect(), replays: connect() },
    bannedAmong: noBans,
    async awaitEvents(afterSeq) {
      while (!hasEventsAfter(node.db, afterSeq)) await signal.next();
    },
    slots: {
      take: async (request) => slots.take(request),
      change: async (slot, cost) => slots.change(slot, cost),
      release: async (slot) => slots.release(slot),
    },
    retentionSecs: 86_400,
    onFault: (cause) => {
      throw cause;
    },
    onSkipped: (_, cause) => {
      throw cause;
    },
    ...options.deps,
  });
  const http = runHttp({
    plugins: [
      pluginOf("native", streamOperations, {
        streams,
        reads: { maxIds: MAX_IDS, cache: new HydrationCache() },
      } as ApiDeps),
    ],
    admission,
    http: { idle_timeout_secs: 1, ...options.http },
    ...(options.gate ? { gate: options.gate } : {}),
    clock: node.clock,
  });
  return {
    node,
    http,
    streams,
    unsent: admission.budgets.unsentBytes,
    url: (query = "") => http.api(`/stream${query === "" ? "" : `?${query}`}`),
    async [Symbol.asyncDispose]() {
      streams.stop();
      await http[Symbol.asyncDispose]();
      db[Symbol.dispose]();
      node[Symbol.dispose]();
    },
  };
}

/** A frame as a client received it. */
export interface ReceivedFrame {
  readonly id: string | undefined;
  readonly event: string | undefined;
  /** The text after `data: `. */
  readonly data: string | undefined;
}

/** A client of server-sent events that keeps each frame as it arrived. */
export class SseClient implements AsyncDisposable {
  readonly response: Response;
  readonly #abort: AbortController;
  readonly #reader: { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> } | undefined;
  readonly #decoder = new TextDecoder();
  #rest = "";
  readonly #frames: ReceivedFrame[] = [];
  #lastId: string | undefined;

  private constructor(response: Response, abort: AbortController) {
    this.response = response;
    this.#abort = abort;
    this.#reader = response.body?.getReader();
  }

  static async open(url: string, init: RequestInit = {}): Promise<SseClient> {
    const abort = new AbortController();
    // A connection of the pool may be one that the server is closing.
    return new SseClient(await fetch(url, { ...init, keepalive: false, signal: abort.signal }), abort);
  }

  /** The cursor of the last frame. */
  get lastId(): string | undefined {
    return this.#lastId;
  }

  /** The next frame; undefined at the end of the stream. */
  async next(): Promise<ReceivedFrame | undefined> {
    while (this.#frames.length === 0) {
      const { done, value } = (await this.#reader?.read()) ?? { done: true, value: undefined };
      if (done) return undefined;
      const parts = (this.#rest + this.#decoder.decode(value, { stream: true })).split("\n\n");
      this.#rest = parts.pop() ?? "";
      this.#frames.push(...parts.map(parseFrame));
    }
    const frame = this.#frames.shift();
    this.#lastId = frame?.id ?? this.#lastId;
    return frame;
  }

  /** The next `count` events, without frames of the stream itself. */
  async events(count: number): Promise<ReceivedFrame[]> {
    const events: ReceivedFrame[] = [];
    while (events.length < count) {
      const frame = await this.next();
      if (!frame) throw new Error(`the stream ended after ${events.length} events`);
      if (frame.event?.includes(".")) events.push(frame);
    }
    return events;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
  }
}

function parseFrame(text: string): ReceivedFrame {
  const field = (name: string) =>
    text
      .split("\n")
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  return { id: field("id"), event: field("event"), data: field("data") };
}

/** The text of the cast in the body of an event. */
export function textIn({ data }: ReceivedFrame): string {
  return JSON.parse(data ?? "null").data.text;
}
