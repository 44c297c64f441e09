import { connectRpc, type RpcClient } from "../../lib/port-rpc.ts";
import type { SignersRpc } from "../../signers/rpc.ts";
import type { Writes, WritesRpc } from "../../writes/rpc.ts";

/** Longer than every wait of a write together. */
const TIMEOUT_MS = 60_000;

/** The thread of writes, which also has the private keys of users. */
export interface WritesThread {
  readonly writes: Writes;
  readonly signers: RpcClient<SignersRpc>;
}

/** Connects to the thread of writes. */
export function connectWrites(port: MessagePort): WritesThread {
  const client = connectRpc<WritesRpc & SignersRpc>(port, {
    timeoutMs: TIMEOUT_MS,
    timeoutError: () => new Error("the thread of writes did not respond in time"),
  });
  return {
    writes: {
      submit: (call) => client.submit(call),
      find: (ownerFid, hash) => client.find(ownerFid, hash),
    },
    signers: client,
  };
}
