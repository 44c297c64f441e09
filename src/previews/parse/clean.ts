/** Control and formatting characters, including those that change the text direction, and lone surrogates. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu;
const MAX_URL_CHARS = 2048;

/** Returns a text of a page as one line of at most `maxChars` characters; undefined if it is empty. */
export function cleanText(text: unknown, maxChars: number): string | undefined {
  if (typeof text !== "string") return undefined;
  const line = text
    .slice(0, maxChars * 8)
    .replaceAll(HIDDEN, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  if (line === "") return undefined;
  // A character of two UTF-16 units may have been cut in half.
  return line.length <= maxChars ? line : line.slice(0, maxChars).replace(/\p{Cs}$/u, "");
}

/** Returns an absolute http or https URL; undefined for any other text. */
export function cleanUrl(text: unknown, base: string): string | undefined {
  if (typeof text !== "string" || text.length > MAX_URL_CHARS) return undefined;
  const url = URL.parse(text.trim(), base);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return undefined;
  if (url.username !== "" || url.password !== "") return undefined;
  return url.href.length > MAX_URL_CHARS ? undefined : url.href;
}

/** Returns a number of pixels as text, as in Open Graph; undefined for anything else. */
export function cleanPixels(text: unknown): string | undefined {
  return typeof text === "string" && /^\s*[0-9]{1,6}\s*$/.test(text) ? String(Number(text)) : undefined;
}

/** Returns the members of an object that are not undefined. */
export function defined<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Partial<T>;
}
