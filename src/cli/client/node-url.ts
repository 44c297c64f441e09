import { statSync } from "node:fs";
import { isLoopbackHost, isWildcardHost } from "../../config/formats.ts";
import type { LoadedConfig } from "../../config/load.ts";
import type { Config } from "../../config/schema.ts";
import { UserError } from "../../lib/failure.ts";
import { lockHolder } from "../../runtime/data-dir.ts";

/** That of a URL without a port. */
const HTTP_PORT = 80;

type Listener = Pick<Config["http"], "host" | "port">;

/**
 * The base URL of a node.
 *
 * @throws UserError when the text is not one.
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

/** Whether traffic to the node crosses a network unencrypted. */
export function isPlainOverNetwork({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && !isLoopbackHost(hostname.replace(/^\[(.*)\]$/, "$1"));
}

/**
 * The URL of this machine's own node: of the one that runs over the data directory, unless a flag names its port; else the listen
 * address in the settings.
 *
 * @throws UserError when no node runs there, and the settings leave its port open.
 */
export function ownNodeUrl({ config, sources }: Pick<LoadedConfig, "config" | "sources">): string {
  const isNamed = sources.get("http.port")?.startsWith("--") ?? false;
  const isTrusted = sources.get("data.dir") !== "default" || isOwn(config.data.dir);
  const running = isNamed || !isTrusted ? undefined : URL.parse(lockHolder(config.data.dir)?.url ?? "");
  if (!running) return listenerUrl(config.http);
  const host = running.hostname.replace(/^\[|\]$/g, "");
  return listenerUrl({ host, port: Number(running.port) || HTTP_PORT });
}

/** Whether a directory belongs to this user. In one of another user, what is there could lead requests elsewhere. */
function isOwn(dir: string): boolean {
  return statSync(dir, { throwIfNoEntry: false })?.uid === process.geteuid?.();
}

/**
 * The URL of a node that listens there. A listener on every address is reached by the loopback address.
 *
 * @throws UserError when the node uses any free port, which other processes cannot know.
 */
export function listenerUrl({ host, port }: Listener): string {
  if (port === 0) throw new UserError("http.port is 0, so the URL of the node is required");
  const address = isWildcardHost(host) ? (host.includes(":") ? "::1" : "127.0.0.1") : host;
  return `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
}
