import { statSync } from "node:fs";
import { isLoopbackHost, isWildcardHost } from "../../config/formats.ts";
import type { LoadedConfig } from "../../config/load.ts";
import type { Config } from "../../config/schema.ts";
import { UserError } from "../../lib/failure.ts";
import { lockHolder } from "../../runtime/data-dir.ts";

/** The port of a URL without one. */
const HTTP_PORT = 80;

type Listener = Pick<Config["http"], "host" | "port">;

/**
 * Parses the base URL of a node.
 *
 * @throws UserError if the text is not one.
 */
export function nodeUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UserError(`${JSON.stringify(text)} is not an http or https URL`);
  }
  if (url.username !== "" || url.password !== "") throw new UserError("--url must hold no user or password");
  if (url.search !== "" || url.hash !== "") throw new UserError("--url must end with its path");
  return url;
}

/** Reports whether traffic to the node crosses a network unencrypted. */
export function isPlainOverNetwork({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && !isLoopbackHost(hostname.replace(/^\[(.*)\]$/, "$1"));
}

/**
 * Returns the URL of this machine's own node: that of the node running on the data directory, unless a flag names its port; otherwise the
 * listen address in the settings.
 *
 * @throws UserError if no node runs there and the settings leave its port open.
 */
export function ownNodeUrl({ config, sources }: Pick<LoadedConfig, "config" | "sources">): string {
  const isNamed = sources.get("http.port")?.startsWith("--") ?? false;
  const isTrusted = sources.get("data.dir") !== "default" || isOwn(config.data.dir);
  const running = isNamed || !isTrusted ? undefined : URL.parse(lockHolder(config.data.dir)?.url ?? "");
  if (!running) return listenerUrl(config.http);
  const host = running.hostname.replace(/^\[|\]$/g, "");
  return listenerUrl({ host, port: Number(running.port) || HTTP_PORT });
}

/** Reports whether a directory belongs to this user. Files in another user's directory could direct requests elsewhere. */
function isOwn(dir: string): boolean {
  return statSync(dir, { throwIfNoEntry: false })?.uid === process.geteuid?.();
}

/**
 * Returns the URL of a node with this listener. A listener on every address is reached through the loopback address.
 *
 * @throws UserError if the node uses any free port, which other processes cannot know.
 */
export function listenerUrl({ host, port }: Listener): string {
  if (port === 0) throw new UserError("http.port is 0, so the URL of the node is required");
  const address = isWildcardHost(host) ? (host.includes(":") ? "::1" : "127.0.0.1") : host;
  return `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
}
