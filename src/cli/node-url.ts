import { isLoopbackHost, isWildcardHost } from "../config/formats.ts";
import type { Config } from "../config/schema.ts";
import { UserError } from "../lib/failure.ts";

type Listener = Pick<Config["http"], "host" | "port">;

/**
 * The base URL of a node.
 *
 * @param target a URL that somebody gave, or where the settings say that the node listens.
 * @throws UserError when that is no base URL.
 */
export function nodeUrl(target: string | Listener): URL {
  const text = typeof target === "string" ? target : listenerUrl(target);
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UserError(`${JSON.stringify(text)} is no http or https URL`);
  }
  if (url.username !== "" || url.password !== "") throw new UserError("--url must hold no user or password");
  if (url.search !== "" || url.hash !== "") throw new UserError("--url must end with its path");
  return url;
}

/** Whether others on the way can read what is said to the node. */
export function isPlainOverNetwork({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && !isLoopbackHost(hostname.replace(/^\[(.*)\]$/, "$1"));
}

/**
 * Where this machine reaches its own node; a listener on every address is asked on this machine's own.
 *
 * @throws UserError where the node takes any free port, which nobody else can know.
 */
export function listenerUrl({ host, port }: Listener): string {
  if (port === 0) throw new UserError("http.port is 0, so that the URL of the node must be given");
  const reached = isWildcardHost(host) ? (host.includes(":") ? "::1" : "127.0.0.1") : host;
  return `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
}
