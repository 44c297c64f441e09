import { ApiError } from "../http/errors.ts";
import { connectRpc, type RpcClient } from "../lib/port-rpc.ts";
import type { OperatorRpc } from "./operator/operator-rpc.ts";
import type { PulseRpc } from "./pulse/pulse.ts";

/** The methods of the main thread for the console. */
export interface ConsoleRpc extends PulseRpc, OperatorRpc {}

const TIMEOUT_MS = 2_000;

/** Returns the client of the main thread over its port. Its methods throw an ApiError `unavailable` without an answer. */
export function connectConsole(port: MessagePort): RpcClient<ConsoleRpc> {
  return connectRpc<ConsoleRpc>(port, {
    timeoutMs: TIMEOUT_MS,
    timeoutError: () => new ApiError("unavailable", "the main thread does not respond"),
  });
}
