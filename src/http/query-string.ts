import { ApiError } from "./errors.ts";

/** The values of each key, in the order of the query string. The object has no prototype, so any key is safe. */
export type RawQuery = Readonly<Record<string, readonly string[]>>;

/** Far more than the largest list that any route accepts, and few enough to parse in negligible time. */
const maxPairs = 1024;

function decodeComponent(text: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch (cause) {
    throw new ApiError("badRequest", "query string is not valid percent-encoded UTF-8", { cause });
  }
}

/**
 * Parses the query string of a URL by the rules of HTML forms: pairs are separated by `&`, `+` means a space, and a
 * key without `=` has the empty value. A repeated key has several values.
 * @throws ApiError `badRequest` for invalid percent-encoding or too many pairs
 */
export function parseQueryString(url: string): RawQuery {
  const query: Record<string, string[]> = Object.create(null);
  const start = url.indexOf("?");
  if (start === -1) return query;
  let pairs = 0;
  for (let from = start + 1; from < url.length; ) {
    let end = url.indexOf("&", from);
    if (end === -1) end = url.length;
    if (end > from) {
      pairs += 1;
      if (pairs > maxPairs) throw new ApiError("badRequest", `more than ${maxPairs} query parameters`);
      const equals = url.indexOf("=", from);
      const keyEnd = equals === -1 || equals > end ? end : equals;
      const key = decodeComponent(url.slice(from, keyEnd));
      const value = keyEnd === end ? "" : decodeComponent(url.slice(keyEnd + 1, end));
      const values = query[key];
      if (values === undefined) query[key] = [value];
      else values.push(value);
    }
    from = end + 1;
  }
  return query;
}
