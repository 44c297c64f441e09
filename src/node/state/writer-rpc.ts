import type { StateCall } from "../../db/state/store-writes.ts";
import { StateUnavailable } from "../../db/state/unavailable.ts";
import { type RpcClient, serveRpc } from "../../lib/port-rpc.ts";
import type { StateWriter, StateWriterStats } from "./state-writer.ts";

/** A request to the state writer. */
export type StateRequest =
  | {
      readonly type: "write";
      readonly calls: readonly StateCall[];
      /** On the sender's clock of `performance.now()`. */
      readonly sentAtMs: number;
      /** The sender stops waiting after this time. */
      readonly timeoutMs: number;
    }
  | { readonly type: "stats" };

/** The outcome of one call. */
export type StateOutcome =
  | { readonly kind: "done"; readonly result: unknown }
  | { readonly kind: "unavailable"; readonly message: string }
  | { readonly kind: "fault"; readonly message: string };

export type StateResponse =
  | { readonly type: "write"; readonly outcomes: readonly StateOutcome[] }
  | { readonly type: "stats"; readonly stats: StateWriterStats };

export type StateRpcClient = RpcClient<StateRequest, StateResponse>;

/** A call must start within this fraction of its timeout, so that its commit and response arrive in time. */
const START_WITHIN = 0.9;

/** Serves the writer to another thread over `port`. */
export function serveStateWriter(port: MessagePort, writer: StateWriter): void {
  // The clocks of two threads start at different times. The measured difference includes the time that the message took,
  // so the smallest one is the most accurate.
  let clockDifferenceMs = Number.POSITIVE_INFINITY;

  serveRpc<StateRequest, StateResponse>(port, async (request) => {
    if (request.type === "stats") return { type: "stats", stats: writer.stats() };
    const { calls, sentAtMs, timeoutMs } = request;
    clockDifferenceMs = Math.min(clockDifferenceMs, performance.now() - sentAtMs);
    const deadlineMs = sentAtMs + clockDifferenceMs + START_WITHIN * timeoutMs;
    const outcomes = await Promise.all(calls.map((call) => outcomeOf(() => writer.call(call, deadlineMs))));
    return { type: "write", outcomes };
  });
}

async function outcomeOf(write: () => Promise<unknown>): Promise<StateOutcome> {
  try {
    return { kind: "done", result: await write() };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    return { kind: cause instanceof StateUnavailable ? "unavailable" : "fault", message };
  }
}

/** @throws Error when the writer's thread ends before it responds. */
export async function stateWriterStats(client: StateRpcClient): Promise<StateWriterStats> {
  const response = await client.call({ type: "stats" });
  if (response.type !== "stats") throw new Error("the state writer responded to another request");
  return response.stats;
}
