import type { Call } from "../data/call.ts";

/** Fields of a request that are never in a link. A channel's key and a public key are not secret. */
const SECRET =
  /(?:^|_)(?:secret|token|jwt|password|seed|(?<!(?:channel|public)_)key|signature|authorization)s?$/i;
const MAX_LINK_CHARS = 8_000;

const withoutSecrets = (_: string, value: unknown) =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).filter(([name]) => !SECRET.test(name)))
    : value;

/** Returns a link to the page that shows a call as a filled form without running it. The node does not see what follows the `#`. */
export function callLink({
  method,
  path,
  body,
}: Pick<Call, "path" | "body"> & { readonly method: string }): string {
  const [bare = "", query = ""] = path.split("?");
  const shown = query.split("&").filter((pair) => !SECRET.test(pair.split("=")[0] ?? ""));
  const params = new URLSearchParams({ call: `${method} ${bare}?${shown.join("&")}`.replace(/\?$/, "") });
  const short = `/console/call#${params}`;
  if (body === undefined) return short;
  params.set("body", JSON.stringify(body, withoutSecrets));
  const whole = `/console/call#${params}`;
  return whole.length > MAX_LINK_CHARS ? short : whole;
}

/** Returns the call of such a link; undefined for anything else. */
export function readCallLink(hash: string) {
  const params = new URLSearchParams(hash.replace(/^#/, ""));
  const [, method, path] = /^(GET|POST|PUT|PATCH|DELETE) (\/.*)$/.exec(params.get("call") ?? "") ?? [];
  if (method === undefined || path === undefined || hash.length > 2 * MAX_LINK_CHARS) return undefined;
  try {
    return { method, path, body: JSON.parse(params.get("body") ?? "null") ?? undefined };
  } catch {
    return { method, path };
  }
}
