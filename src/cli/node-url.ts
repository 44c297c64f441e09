import { isLoopbackHost, isWildcardHost } from "../config/formats.ts";
import type { Config } from "../config/schema.ts";
import { UserError } from "../lib/failure.ts";

type Listener = Pick<Config["http"], "host" | "port">;

/**
 * The base URL of a node.
 *
 * @param target a URL, or the listen address in the settings.
 * @throws UserError when that is not a base URL.
 */
export function nodeUrl(target: string | Listener): URL {
  const text = typeof target === "string" ? target : listenerUrl(target);
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UserError(`${JSON.stringify(text)} is not an http or https URL`);
  }
  if (url.username !== "" || url.password !== "") throw new UserError("--url must hold no user or password");
  if (url.search !== "" || url.hash !== "") throw new UserError("--url must end with its path");
  return url;
}

/** Whether traffic to the node crosses a network unencrypted. */
export function isPlainOverNetwork({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && !isLoopbackHost(hostname.replace(/^\[(.*)\]$/, "$1"));
}

/**
 * The URL of this machine's own node. A listener on every address is reached by the loopback address.
 *
 * @throws UserError when the node uses any free port, which other processes cannot know.
 */
export function listenerUrl({ host, port }: Listener): string {
  if (port === 0) throw new UserError("http.port is 0, so the URL of the node is required");
  const address = isWildcardHost(host) ? (host.includes(":") ? "::1" : "127.0.0.1") : host;
  return `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
}
