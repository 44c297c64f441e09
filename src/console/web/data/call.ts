import { apiPrefix } from "../page-config.ts";

export type CallParams = Readonly<
  Record<string, string | number | boolean | readonly (string | number)[] | undefined>
>;

/** A request that a view makes, as the page shows it to be copied. */
export interface Call {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path with query, of this origin: `/v2/svc/feed/trending?limit=3`. */
  readonly path: string;
  readonly body?: unknown;
  /** Of a signed operation: its name, as in the header of the request. */
  readonly op?: string;
  /** Of a signed operation: the arguments of the `svc` command that does the same. */
  readonly cli?: string;
  /** What that command reads from its standard input, as JSON. */
  readonly cliInput?: unknown;
  /** The response never ends: events as they happen. */
  readonly isStream?: boolean;
}

/** The query of a request, without undefined values; lists are separated by commas. */
export function queryString(params: CallParams): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params))
    if (value !== undefined) query.set(name, Array.isArray(value) ? value.join(",") : String(value));
  const text = query.toString().replaceAll("%2C", ",");
  return text === "" ? "" : `?${text}`;
}

/** A GET of the native API: `get("/user", { fid: 3 })`. */
export function get(path: string, params: CallParams = {}): Call {
  return { method: "GET", path: `${apiPrefix}${path}${queryString(params)}` };
}

/** The same call for another page of a list. */
export function atCursor(call: Call, cursor: string): Call {
  const [path = "", query = ""] = call.path.split("?");
  const params = new URLSearchParams(query);
  params.set("cursor", cursor);
  return { ...call, path: `${path}?${params.toString().replaceAll("%2C", ",")}` };
}
