import { parseJsonBytes } from "../../lib/json.ts";
import { cleanText, cleanUrl } from "./clean.ts";

/** oEmbed data of a page. Its HTML is never kept, because a page that showed it would run the code of a stranger. */
export type Oembed = Readonly<Record<string, string | number | null>> & { readonly type: string };

const TYPES: readonly unknown[] = ["link", "photo", "rich", "video"];
const MAX_TEXT_CHARS = 300;

/** Returns the members of an oEmbed response under the names of the hosted API; undefined for anything else. */
export function oembedOf(body: Uint8Array, url: string): Oembed | undefined {
  const value = parseJsonBytes(body);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const sent = value as Readonly<Record<string, unknown>>;
  const { type } = sent;
  if (typeof type !== "string" || !TYPES.includes(type)) return undefined;
  const text = (name: string) => cleanText(sent[name], MAX_TEXT_CHARS) ?? null;
  const link = (name: string) => cleanUrl(sent[name], url) ?? null;
  // An object from a stranger may not be convertible to text: `String` would throw.
  const scalar = (name: string) =>
    typeof sent[name] === "string" || typeof sent[name] === "number" ? String(sent[name]) : undefined;
  const pixels = (name: string) => {
    const number = Number(scalar(name) ?? Number.NaN);
    return Number.isSafeInteger(number) && number > 0 && number < 1e6 ? number : null;
  };
  return {
    type,
    version: cleanText(scalar("version"), 20) ?? "1.0",
    title: text("title"),
    author_name: text("author_name"),
    author_url: link("author_url"),
    provider_name: text("provider_name"),
    provider_url: link("provider_url"),
    cache_age: cleanText(scalar("cache_age"), 20) ?? null,
    thumbnail_url: link("thumbnail_url"),
    thumbnail_width: pixels("thumbnail_width"),
    thumbnail_height: pixels("thumbnail_height"),
    ...(type !== "link" && { width: pixels("width"), height: pixels("height") }),
    ...(type === "photo" && { url: link("url") }),
    ...((type === "rich" || type === "video") && { html: null }),
  };
}
