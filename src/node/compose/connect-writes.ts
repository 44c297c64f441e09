import { connectRpc } from "../../lib/port-rpc.ts";
import type { Writes, WritesRpc } from "../../writes/rpc.ts";

/** Longer than every wait of a write together. */
const TIMEOUT_MS = 60_000;

/** Connects to the thread of writes. */
export function connectWrites(port: MessagePort): Writes {
  const client = connectRpc<WritesRpc>(port, {
    timeoutMs: TIMEOUT_MS,
    timeoutError: () => new Error("the thread of writes did not respond in time"),
  });
  return {
    submit: (call) => client.submit(call),
    find: (ownerFid, hash) => client.find(ownerFid, hash),
  };
}
