import type { StateCall } from "../../db/state/store-writes.ts";
import { StateUnavailable } from "../../db/state/unavailable.ts";
import { type RpcClient, serveRpc } from "../../lib/port-rpc.ts";
import type { StateWriter, StateWriterStats } from "./state-writer.ts";

/** Writes that one thread sends in one message. */
export interface WriteRequest {
  readonly calls: readonly StateCall[];
  /** On the sender's clock of `performance.now()`. */
  readonly sentAtMs: number;
  /** The sender stops waiting after this time. */
  readonly timeoutMs: number;
}

/** The outcome of one call. */
export type StateOutcome =
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

/** A call must start within this fraction of its timeout, so that its commit and response arrive in time. */
const START_WITHIN = 0.9;

/** Serves the writer to another thread over `port`. */
export function serveStateWriter(port: MessagePort, writer: StateWriter): void {
  // The clocks of two threads start at different times. The measured difference includes the time that the message took,
  // so the smallest one is the most accurate.
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
