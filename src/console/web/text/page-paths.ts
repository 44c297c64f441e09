import { isUsername } from "../../../protocol/validate/names.ts";

const CLIENT_HOSTS = new Set(["farcaster.xyz", "www.farcaster.xyz", "warpcast.com", "www.warpcast.com"]);
const HASH = /^0x[0-9a-f]{40}$/i;
const HASH_PREFIX = /^0x[0-9a-f]{8,39}$/i;
const FALLBACK_NAME = /^![1-9]\d{0,15}$/;

/**
 * Returns the page of this console for what a known client's URL identifies: a person, a cast or a channel. Undefined for any other URL.
 * A cast given by the first digits of its hash is looked up by the search page.
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

/**
 * What a visitor entered into a search box. `page` opens at once. `hex20` is a cast hash or an address, which have the same form;
 * `address` is a Solana address; `url` is looked up as the URL of a cast.
 */
export type SearchEntry =
  | { readonly kind: "empty" }
  | { readonly kind: "page"; readonly page: string }
  | { readonly kind: "hex20"; readonly hex: string }
  | { readonly kind: "address"; readonly address: string }
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "words"; readonly text: string; readonly username: string | undefined };

const HEX_20 = /^0x[0-9a-f]{40}$/i;
const FID = /^(?:!|#|fid:?\s*)?([1-9]\d{0,15})$/i;
const SOLANA_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const CHANNEL = /^\/([a-z0-9][a-z0-9-]{0,15})$/i;
const CAST_URL = /^https:\/\/(?:www\.)?(?:warpcast\.com|farcaster\.xyz)\/[^/~?#]+\/0x[0-9a-f]{8,40}\/?$/i;
/** The maximum length of a search text. */
const MAX_ENTRY_CHARS = 256;

/** Reads the content of a search box. For words, `username` is set if they may also be a person's name. */
export function readEntry(input: string): SearchEntry {
  const text = input.trim().slice(0, MAX_ENTRY_CHARS);
  if (text === "") return { kind: "empty" };
  const fid = FID.exec(text)?.[1];
  if (fid !== undefined && Number.isSafeInteger(Number(fid))) return { kind: "page", page: personPage(fid) };
  const name = text.slice(1).toLowerCase();
  if (text.startsWith("@") && isUsername(name)) return { kind: "page", page: personPage(name) };
  if (HEX_20.test(text)) return { kind: "hex20", hex: text.toLowerCase() };
  const channel = CHANNEL.exec(text)?.[1];
  if (channel !== undefined) return { kind: "page", page: channelPage(channel.toLowerCase()) };
  return /^https?:\/\//i.test(text) ? readUrl(text) : readWords(text);
}

function readUrl(text: string): SearchEntry {
  if (CAST_URL.test(text) && !HEX_20.test(text.replace(/\/$/, "").split("/").at(-1) ?? "")) {
    return { kind: "url", url: text };
  }
  const page = pageOfClientUrl(text);
  return page === undefined ? { kind: "words", text, username: undefined } : { kind: "page", page };
}

function readWords(text: string): SearchEntry {
  if (SOLANA_ADDRESS.test(text)) return { kind: "address", address: text };
  const name = text.toLowerCase();
  return { kind: "words", text, username: isUsername(name) ? name : undefined };
}
