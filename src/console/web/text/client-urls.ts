import { isUsername } from "../../../protocol/validate/names.ts";

const CLIENT_HOSTS = new Set(["farcaster.xyz", "www.farcaster.xyz", "warpcast.com", "www.warpcast.com"]);
const HASH = /^0x[0-9a-f]{40}$/i;
const HASH_PREFIX = /^0x[0-9a-f]{8,39}$/i;
const FALLBACK_NAME = /^![1-9]\d{0,15}$/;

/**
 * Returns the page of this console that shows what the URL of a known client names: a person, a cast or a channel. Undefined for any
 * other URL. A cast that is named by the first digits of its hash is looked up by the search page.
 */
export function pageOfClientUrl(href: string): string | undefined {
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  if (!/^https?:$/.test(url.protocol) || !CLIENT_HOSTS.has(url.host)) return undefined;
  const [first = "", second = "", third = "", ...rest] = pathParts(url.pathname);
  if (rest.length > 0) return undefined;
  if (first === "~") return pageOfApp(second, third);
  if (third !== "" || !(isUsername(first) || FALLBACK_NAME.test(first))) return undefined;
  if (second === "") return personPage(first);
  if (HASH.test(second)) return castPage(second);
  return HASH_PREFIX.test(second) ? searchPage(`https://farcaster.xyz/${first}/${second}`) : undefined;
}

function pageOfApp(kind: string, id: string): string | undefined {
  switch (kind) {
    case "channel":
      return id === "" ? undefined : channelPage(id);
    case "conversations":
      return HASH.test(id) ? castPage(id) : undefined;
    case "profiles":
      return /^[1-9]\d{0,15}$/.test(id) ? personPage(id) : undefined;
    default:
      return undefined;
  }
}

function pathParts(pathname: string): string[] {
  try {
    return decodeURIComponent(pathname)
      .split("/")
      .filter((part) => part !== "");
  } catch {
    return [];
  }
}

/** Returns the page of a person, by fid, `!<fid>` or name. */
export function personPage(who: string | number): string {
  return `/console/people/${encodeURIComponent(String(who).replace(/^!/, ""))}`;
}

export function castPage(hash: string): string {
  return `/console/casts/${encodeURIComponent(hash.toLowerCase())}`;
}

/** Returns the page of a channel, whose id may be any URL. */
export function channelPage(id: string): string {
  return `/console/channels/${encodeURIComponent(id)}`;
}

export function searchPage(query: string, kind?: "people" | "casts" | "channels"): string {
  const params = new URLSearchParams({ q: query });
  if (kind) params.set("in", kind);
  return `/console/search?${params}`;
}

/** Returns the page of a person by name, or by fid if there is no name. */
export const pageOfPerson = ({ fid, username }: { readonly fid: number; readonly username: string }) =>
  personPage(username === "" || username.startsWith("!") ? fid : username);
