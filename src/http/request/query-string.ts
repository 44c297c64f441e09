import { ApiError } from "../errors.ts";

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
 * Returns the items of a list whose items may contain commas: a single value is split at its commas before it is decoded, so that `%2C`
 * is part of an item; values of a repeated key are items.
 * @throws ApiError `badRequest` for invalid percent-encoding
 */
export function listValues(url: string, key: string): string[] {
  const start = url.indexOf("?");
  const pairs = start === -1 ? [] : url.slice(start + 1).split("&");
  const values = pairs.flatMap((pair) => {
    const [name = "", ...rest] = pair.split("=");
    return decodeComponent(name) === key ? [rest.join("=")] : [];
  });
  const items = values.length === 1 ? (values[0]?.split(",") ?? []) : values;
  return items.map(decodeComponent).filter((item) => item !== "");
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
