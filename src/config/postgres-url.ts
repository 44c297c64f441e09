import { err, ok, type Result } from "../lib/result.ts";

/** How to reach a server. Complete, so that the driver reads nothing from the environment. */
export interface ConnectOptions {
  /** A host name or an IP address; unused with `socketPath`. */
  readonly host: string;
  readonly port: number;
  /** The path of a Unix socket. */
  readonly socketPath?: string;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly sslMode: SslMode;
}

/** libpq's modes except `allow` and `prefer`, which a man in the middle can downgrade. */
export type SslMode = (typeof SSL_MODES)[number];

const SSL_MODES = ["disable", "require", "verify-ca", "verify-full"] as const;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;
const DEFAULT_PORT = 5432;

/**
 * Reads `postgres://user:password@host:port/database?sslmode=…&host=/socket/directory`. Without `sslmode`, a loopback host or a Unix
 * socket is reached in clear text, and any other host with `verify-full`.
 *
 * @returns the options, or why the URL is refused; the reason contains no part of the URL.
 */
export function readPostgresUrl(text: string): Result<ConnectOptions, string> {
  const url = URL.parse(text);
  if (!url || !/^postgres(ql)?:$/.test(url.protocol)) return err("it is not a postgres:// URL");
  const user = decoded(url.username);
  const password = decoded(url.password);
  const database = decoded(url.pathname.slice(1));
  const host = decoded(url.hostname.replace(/^\[(.*)\]$/, "$1"));
  if (user === undefined || password === undefined || database === undefined || host === undefined)
    return err("it has an invalid percent sequence");
  if (user === "") return err("it has no user");
  if (database === "" || database.includes("/")) return err("it has no database, or more than one");
  if (url.hash !== "") return err("it has a fragment: write # in a password as %23");
  for (const name of url.searchParams.keys()) {
    if (name !== "sslmode" && name !== "host") return err(`it has an unknown parameter: ${shown(name)}`);
    if (url.searchParams.getAll(name).length > 1) return err(`it has the parameter ${name} twice`);
  }
  const directory = url.searchParams.get("host");
  if (directory === null && host === "") return err("it has no host");
  if (directory !== null && !directory.startsWith("/"))
    return err("its parameter host is not the directory of a Unix socket");
  const port = url.port === "" ? DEFAULT_PORT : Number(url.port);
  const isLocal = directory !== null || LOOPBACK.test(host);
  const sslMode = url.searchParams.get("sslmode") ?? (isLocal ? "disable" : "verify-full");
  if (!isSslMode(sslMode)) return err(`its sslmode is none of ${SSL_MODES.join(", ")}`);
  const socketPath = directory === null ? {} : { socketPath: `${directory}/.s.PGSQL.${port}` };
  return ok({ host, port, ...socketPath, user, password, database, sslMode });
}

/** Reports whether a text is the URL of a PostgreSQL database, or empty. */
export function isPostgresUrlOrEmpty(text: string): boolean {
  return text === "" || readPostgresUrl(text).ok;
}

/** Reports whether a server on another machine is reached without verifying its identity. */
export function isUnverified({ host, socketPath, sslMode }: ConnectOptions): boolean {
  const isLocal = socketPath !== undefined || LOOPBACK.test(host);
  return !isLocal && (sslMode === "disable" || sslMode === "require");
}

function isSslMode(text: string): text is SslMode {
  return SSL_MODES.some((mode) => mode === text);
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** Limits which characters of a URL a message repeats, and how many. */
function shown(name: string): string {
  return name.replace(/[^\w-]/g, "?").slice(0, 32);
}
