import { type ConfirmRpc, UnconfirmedError } from "../../auth/confirmed-owners.ts";
import { connectRpc } from "../../lib/port-rpc.ts";

/** Longer than the calls of one comparison take, unless nodes hang. */
const TIMEOUT_MS = 8000;

/** Connects to the thread that follows other nodes, which asks a second one; undefined where one is trusted. */
export function connectConfirm(port: MessagePort | undefined): ConfirmRpc | undefined {
  if (!port) return undefined;
  const client = connectRpc<ConfirmRpc>(port, {
    timeoutMs: TIMEOUT_MS,
    timeoutError: () => new UnconfirmedError("a second upstream has not answered in time"),
  });
  return {
    confirmCustody: (fid, lane) => client.confirmCustody(fid, lane),
    confirmKey: (fid, key, lane) => client.confirmKey(fid, key, lane),
  };
}
