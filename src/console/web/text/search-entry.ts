import { isUsername } from "../../../protocol/validate/names.ts";
import { channelPage, pageOfClientUrl, personPage } from "./client-urls.ts";

/**
 * What a visitor typed into a search box. `page` opens at once. `hex20` is a cast hash or an address, which have the same form;
 * `address` is one of Solana; `url` is looked up as the URL of a cast.
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
/** The longest text that a search takes. */
export const MAX_ENTRY_CHARS = 256;

/** Reads the content of a search box. `username` of words is set where they may be a person's name as well. */
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
