import { RetryableError, reasonOf, UserError } from "../lib/failure.ts";

/** Where a server is to listen, and what the operator changes to have it elsewhere. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** The setting or the flag that the port comes from, as `http.port (SVC_HTTP_PORT)`. */
  readonly setting: string;
}

/**
 * Refuses an address that cannot be listened on, before anything is started: a listener of a worker could only tell the
 * system's words, and on a port that HTTP workers share a second node would join in unnoticed.
 *
 * @param address port 0 or less lets the system choose, or nothing listens.
 * @throws RetryableError where another process listens there or the address is missing, UserError where this user may not.
 */
export function checkListenAddress(address: ListenAddress): void {
  const { host, port } = address;
  if (port <= 0) return;
  try {
    Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true);
  } catch (cause) {
    throw listenFault(address, cause);
  }
}

/** A fault of listening in the words of the operator. */
export function listenFault({ host, port, setting }: ListenAddress, cause: unknown): Error {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const options = { cause };
  if (code === "EADDRINUSE") {
    const message = `port ${port} is in use: another process listens on ${host}. The setting is ${setting}`;
    return new RetryableError(message, options);
  }
  if (code === "EACCES")
    return new UserError(`this user may not listen on port ${port}: ${setting}`, options);
  // At the boot of a machine, its addresses and names may come later.
  return new RetryableError(`cannot listen on ${host} at present: ${reasonOf(cause)}`, options);
}
