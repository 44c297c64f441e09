import { variableOf } from "../config/names.ts";
import type { Config } from "../config/schema.ts";
import { RetryableError, reasonOf, UserError } from "../lib/failure.ts";

/** An address to listen on, and the setting that determines it. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** The setting or flag of the port, such as `http.port` or `--port`. */
  readonly setting: string;
}

/** Returns where a node with these settings listens. */
export function listenersOf({ http, hub }: Pick<Config, "http" | "hub">): ListenAddress[] {
  return [
    { host: http.host, port: http.port, setting: "http.port" },
    { host: hub.host, port: hub.port, setting: "hub.port" },
    { host: hub.host, port: hub.http_port, setting: "hub.http_port" },
  ];
}

/** Returns host and port as in a URL: an IPv6 address in brackets (RFC 3986 3.2.2). */
export function hostAndPort(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The distance from one port to another that is likely free, for a second node on a machine. */
const NEXT_PORT = 10;
const MAX_PORT = 65_535;

/**
 * Checks that addresses can be listened on, before anything is started. A worker's listener could only report the system's error text,
 * and a second node would silently share the port of the HTTP workers.
 *
 * @param addresses with port 0 the system chooses the port; with a negative port nothing listens.
 * @throws RetryableError if another process listens there or an address is missing, UserError without permission. The error names all
 * such addresses.
 */
export function checkListenAddresses(addresses: readonly ListenAddress[]): void {
  const fault = oneFaultOf(addresses.flatMap((address) => listenFaultAt(address) ?? []));
  if (fault) throw fault;
}

/** Combines several errors into one. It is a UserError if any of them is, because then a retry does not help. */
export function oneFaultOf(faults: readonly Error[]): Error | undefined {
  const [first] = faults;
  if (!first) return undefined;
  const message = faults.map((fault) => fault.message).join("; ");
  if (faults.some((fault) => fault instanceof UserError)) return new UserError(message);
  first.message = message;
  return first;
}

/** Returns why an address cannot be listened on; undefined if it can. */
export function listenFaultAt(address: ListenAddress): Error | undefined {
  const { host, port } = address;
  if (port <= 0) return undefined;
  try {
    Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true);
    return undefined;
  } catch (cause) {
    return listenFault(address, cause);
  }
}

/** Converts an error of `listen` to an error for the operator. */
export function listenFault({ host, port, setting }: ListenAddress, cause: unknown): Error {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const options = { cause };
  if (code === "EADDRINUSE") {
    const message = `port ${port} is in use: another process listens on ${host}. Set another: ${remedyOf(port, setting)}`;
    return new RetryableError(message, options);
  }
  if (code === "EACCES")
    return new UserError(
      `this user may not listen on port ${port}. Set another: ${remedyOf(port, setting)}`,
      options,
    );
  // While a machine boots, its addresses and names may not be available yet.
  return new RetryableError(`cannot listen on ${host}: ${reasonOf(cause)}`, options);
}

/** Explains how to choose another port, in the words of the README. */
function remedyOf(port: number, setting: string): string {
  const other = port + NEXT_PORT <= MAX_PORT ? port + NEXT_PORT : port - NEXT_PORT;
  return setting.startsWith("--")
    ? `${setting} ${other}`
    : `${variableOf(setting)}=${other} before the command (${setting})`;
}
