import type { CallWriter, StateCall } from "../../db/state/sqlite-state-db.ts";
import { StateUnavailable } from "../../db/state/unavailable.ts";
import { type RpcClient, serveRpc } from "../../lib/port-rpc.ts";
import type { StateWriter, StateWriterStats } from "./state-writer.ts";

/** Writes that one thread sends in one message. */
interface WriteRequest {
  readonly calls: readonly StateCall[];
  /** On the sender's clock, from `performance.now()`. */
  readonly sentAtMs: number;
  /** After this time the sender stops waiting. */
  readonly timeoutMs: number;
}

/** The outcome of one call. */
type StateOutcome =
  | { readonly kind: "done"; readonly result: unknown }
  | {
      readonly kind: "unavailable";
      readonly message: string;
      readonly mayHaveHappened: boolean;
      readonly isStorageFault: boolean;
    }
  | { readonly kind: "fault"; readonly message: string };

/** The methods of the state writer. */
export interface StateWriterRpc {
  /** Returns the outcomes in the order of the calls. */
  write(request: WriteRequest): readonly StateOutcome[];
  stats(): StateWriterStats;
}

export type StateRpcClient = RpcClient<StateWriterRpc>;

/** A call must start within this fraction of its timeout, so that its commit and response are in time. */
const START_WITHIN = 0.9;

/** Serves the writer to another thread over `port`. */
export function serveStateWriter(port: MessagePort, writer: StateWriter): void {
  // The clocks of two threads start at different times. A measured difference includes the delivery time of the message, so the smallest
  // one is the most accurate.
  let clockDifferenceMs = Number.POSITIVE_INFINITY;

  serveRpc<StateWriterRpc>(port, {
    write({ calls, sentAtMs, timeoutMs }) {
      clockDifferenceMs = Math.min(clockDifferenceMs, performance.now() - sentAtMs);
      const deadlineMs = sentAtMs + clockDifferenceMs + START_WITHIN * timeoutMs;
      return Promise.all(calls.map((call) => outcomeOf(() => writer.call(call, deadlineMs))));
    },
    stats: () => writer.stats(),
  });
}

async function outcomeOf(write: () => Promise<unknown>): Promise<StateOutcome> {
  try {
    return { kind: "done", result: await write() };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    if (!(cause instanceof StateUnavailable)) return { kind: "fault", message };
    const { mayHaveHappened, isStorageFault } = cause;
    return { kind: "unavailable", message, mayHaveHappened, isStorageFault };
  }
}

/** How long a caller waits for the writer. */
const TIMEOUT_MS = 5_000;
/** Maximum calls of one thread that wait at the writer. Further calls fail at once. */
const MAX_WAITING_CALLS = 8_192;
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** Bounds a message, so that calls do not wait for too many others. */
const MAX_BATCH_CALLS = 256;

export interface StateWriterClientOptions {
  readonly timeoutMs?: number;
  readonly maxWaitingCalls?: number;
  readonly maxWaitingBytes?: number;
}

interface Pending {
  readonly call: StateCall;
  readonly bytes: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (cause: unknown) => void;
}

/**
 * Creates the client of the state writer on another thread. Calls in the same turn of the event loop share one message, because a message
 * costs more than most calls.
 *
 * A call fails with `StateUnavailable` if there is no response in time, and at once if too many calls wait. A call counts as waiting
 * until the writer responds, even after its caller has timed out, so that a stuck writer cannot accumulate memory.
 */
export function createStateWriterClient(
  client: StateRpcClient,
  options: StateWriterClientOptions = {},
): CallWriter {
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const maxWaitingCalls = options.maxWaitingCalls ?? MAX_WAITING_CALLS;
  const maxWaitingBytes = options.maxWaitingBytes ?? MAX_WAITING_BYTES;
  let batch: Pending[] = [];
  let waitingCalls = 0;
  let waitingBytes = 0;

  function send(): void {
    const sent = batch;
    if (sent.length === 0) return;
    batch = [];
    const timer = setTimeout(() => {
      const cause = new StateUnavailable("the state writer did not respond in time");
      for (const { reject } of sent) reject(cause);
    }, timeoutMs);
    const done = () => {
      clearTimeout(timer);
      waitingCalls -= sent.length;
      for (const { bytes } of sent) waitingBytes -= bytes;
    };
    const calls = sent.map(({ call }) => call);
    client.write({ calls, sentAtMs: performance.now(), timeoutMs }).then(
      (outcomes) => {
        done();
        for (const [at, pending] of sent.entries()) settle(pending, outcomes[at]);
      },
      (cause) => {
        done();
        for (const { reject } of sent) reject(cause);
      },
    );
  }

  return (call) => {
    const bytes = estimatedBytes(call.args);
    if (waitingCalls >= maxWaitingCalls || waitingBytes + bytes > maxWaitingBytes) {
      return Promise.reject(new StateUnavailable("too many writes of the state are waiting"));
    }
    waitingCalls += 1;
    waitingBytes += bytes;
    return new Promise((resolve, reject) => {
      if (batch.length === 0) setImmediate(send);
      batch.push({ call, bytes, resolve, reject });
      if (batch.length >= MAX_BATCH_CALLS) send();
    });
  };
}

function settle({ resolve, reject }: Pending, outcome: StateOutcome | undefined): void {
  if (outcome?.kind === "done") resolve(outcome.result);
  else if (outcome?.kind === "unavailable") reject(new StateUnavailable(outcome.message, outcome));
  else reject(new Error(outcome?.message ?? "the state writer returned too few outcomes"));
}

/** Estimates the memory of a value in a message to another thread, in bytes. */
function estimatedBytes(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  let bytes = 16;
  for (const part of Object.values(value)) bytes += estimatedBytes(part);
  return bytes;
}
