import { RetryableError, reasonOf, UserError } from "../lib/failure.ts";

/** An address to listen on, and the setting that determines it. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** The setting or flag of the port, such as `http.port (SVC_HTTP_PORT)`. */
  readonly setting: string;
}

/**
 * Checks that an address can be listened on, before anything is started. A worker's listener could only report the
 * system's error text, and a second node would silently share the port of the HTTP workers.
 *
 * @param address with port 0 the system chooses; with a negative port nothing listens.
 * @throws RetryableError when another process listens there or the address is missing, UserError without permission.
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

/** Converts an error of `listen` to an error for the operator. */
export function listenFault({ host, port, setting }: ListenAddress, cause: unknown): Error {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const options = { cause };
  if (code === "EADDRINUSE") {
    const message = `port ${port} is in use: another process listens on ${host}. The setting is ${setting}`;
    return new RetryableError(message, options);
  }
  if (code === "EACCES")
    return new UserError(`this user may not listen on port ${port}: ${setting}`, options);
  // While a machine boots, its addresses and names may not be available yet.
  return new RetryableError(`cannot listen on ${host} at present: ${reasonOf(cause)}`, options);
}
