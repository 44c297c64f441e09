import type { Config } from "./schema.ts";

export type UpstreamSettings = { readonly upstream: Pick<Config["upstream"], "url" | "urls"> };

/** Returns the nodes to follow, in the order of the settings; empty if the node follows none. Only the first one gets the credentials. */
export function upstreamUrls({ upstream: { url, urls } }: UpstreamSettings): readonly string[] {
  return url === "" ? urls : [url];
}

/** Reports whether the index has every fid of the network, rather than only those that the operator chose. */
export function followsAll({ upstream }: Pick<Config, "upstream">): boolean {
  return upstream.fids.length === 0 && upstream.fid_file === "";
}

/** Reports whether a second node, or the chain, confirms what the followed node says and no block commits to. */
export function confirmsEvents(
  settings: UpstreamSettings & { readonly trust: Pick<Config["trust"], "events"> },
): boolean {
  const least = { one: Number.POSITIVE_INFINITY, two: 2, rpc: 1 }[settings.trust.events];
  return upstreamUrls(settings).length >= least;
}

/** Reports whether the node follows other nodes instead of being its own network. */
export function isFollowing(settings: UpstreamSettings): boolean {
  return upstreamUrls(settings).length > 0;
}

/** Returns the host of a node's URL, without brackets. */
export function hostOfUrl(url: string): string {
  return new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
}
