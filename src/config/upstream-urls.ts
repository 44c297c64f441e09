import type { Config } from "./schema.ts";

export type UpstreamSettings = { readonly upstream: Pick<Config["upstream"], "url" | "urls"> };

/** The nodes to follow, in the order of the settings; empty if the node follows none. The first one gets the credentials. */
export function upstreamUrls({ upstream: { url, urls } }: UpstreamSettings): readonly string[] {
  return url === "" ? urls : [url];
}

/** Whether the index has every fid of the network, rather than those that the operator chose. */
export function followsAll({ upstream }: Pick<Config, "upstream">): boolean {
  return upstream.fids.length === 0 && upstream.fid_file === "";
}

/** Whether a second node, or the chain, confirms what the followed one says and no block binds. */
export function confirmsEvents(
  settings: UpstreamSettings & { readonly trust: Pick<Config["trust"], "events"> },
): boolean {
  const least = { one: Number.POSITIVE_INFINITY, two: 2, rpc: 1 }[settings.trust.events];
  return upstreamUrls(settings).length >= least;
}

/** Whether the node follows others, instead of being a network of its own. */
export function isFollowing(settings: UpstreamSettings): boolean {
  return upstreamUrls(settings).length > 0;
}

/** The host of a node's URL, without brackets. */
export function hostOfUrl(url: string): string {
  return new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
}
