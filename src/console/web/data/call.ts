import type { components, paths } from "../../../../client/src/api.generated.ts";
import { apiPrefix } from "../page-config.ts";

/** The objects of the native API, as described by its document. Times are unix seconds. */
export type Schemas = components["schemas"];
export type User = Schemas["User"];
export type Cast = Schemas["Cast"];
export type Channel = Schemas["Channel"];
export type HistoryLanes = Schemas["HistoryLanes"];
export type HistoryFigures = Schemas["HistoryFigures"];
export type HistorySince = Schemas["HistorySince"];

interface Verbs {
  readonly GET: "get";
  readonly POST: "post";
  readonly PUT: "put";
  readonly PATCH: "patch";
  readonly DELETE: "delete";
}
type Method = keyof Verbs;
type PathWith<M extends Method> = {
  [P in keyof paths]: paths[P] extends { [V in Verbs[M]]: { responses: unknown } }
    ? P extends `/v2/svc${infer Path}`
      ? Path
      : never
    : never;
}[keyof paths];

/** An operation of the native API by method and path, such as `PUT /api_key`. */
export type Route = { [M in Method]: `${M} ${PathWith<M>}` }[Method];

type Operation<R> = R extends `${infer M extends Method} ${infer Path}`
  ? `/v2/svc${Path}` extends infer P extends keyof paths
    ? paths[P] extends { [V in Verbs[M]]: infer O }
      ? O
      : never
    : never
  : never;
type Json<C> = C extends { content: { "application/json": infer Body } } ? Body : never;

/** The body of an operation's response. */
export type ResponseOf<R> =
  Operation<R> extends { responses: infer All } ? Json<All[keyof All & (200 | 201 | 202)]> : never;
/** The body of an operation's request. */
export type BodyOf<R> = Operation<R> extends { requestBody?: infer Body } ? Json<Body> : never;
/** The parameters of an operation's query. */
export type QueryOf<R> =
  Operation<R> extends { parameters: { query?: infer Query } }
    ? { readonly [Name in keyof NonNullable<Query>]?: CallParams[string] }
    : never;

export type CallParams = Readonly<
  Record<string, string | number | boolean | readonly (string | number)[] | undefined>
>;

/** What snippets contain about the node. */
export interface Site {
  /** `http://127.0.0.1:8080`. */
  readonly origin: string;
  /** The name of the program. */
  readonly service: string;
  /** Name of the EIP-712 domain of signed operations. */
  readonly domain: string;
  /** The prefix of the headers of signed operations, as in `X-Svc-`. */
  readonly headerPrefix: string;
  /** The signer; left open as `$FID` if unknown. */
  readonly fid?: number | undefined;
  /** Whether reads of the API need an API key (`http.anonymous = false`). Snippets take it from `$SECRET`. */
  readonly needsApiKey: boolean;
}

/** A call as text to copy. */
export interface Snippet {
  readonly language: string;
  readonly text: string;
}

/** A request of a view, as shown on the page for copying. `T` is the body of the response. */
export interface Call<T = unknown> {
  readonly method: Method;
  /** Path with query on this origin: `/v2/svc/feed/trending?limit=3`. */
  readonly path: string;
  readonly body?: unknown;
  /** Set for a signed operation: its name, as in the request header. */
  readonly op?: string | undefined;
  /** Set for a signed operation: the arguments of the equivalent `svc` command. */
  readonly cli?: string | undefined;
  /** What that command reads from standard input, as JSON. */
  readonly cliInput?: unknown;
  /** Set for a signed operation: the ways to make it that can be copied. */
  readonly snippets?: (call: Call, site: Site) => readonly Snippet[];
  /** Whether the response is endless: events as they happen. */
  readonly isStream?: boolean;
  /** Only for the type checker; never set. */
  readonly response?: T;
}

/** Returns the query of a request, without undefined values. Lists are separated by commas. */
export function queryString(params: CallParams): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params))
    if (value !== undefined) query.set(name, Array.isArray(value) ? value.join(",") : String(value));
  const text = query.toString().replaceAll("%2C", ",");
  return text === "" ? "" : `?${text}`;
}

/** A GET of the native API: `get("/user", { fid: 3 })`. */
export function get<P extends PathWith<"GET">>(
  path: P,
  params: QueryOf<`GET ${P}`> & CallParams = {} as QueryOf<`GET ${P}`> & CallParams,
): Call<ResponseOf<`GET ${P}`>> {
  return { method: "GET", path: `${apiPrefix}${path}${queryString(params)}` };
}

/** Returns the same call for another page of a list. */
export function atCursor<T>(call: Call<T>, cursor: string): Call<T> {
  const [path = "", query = ""] = call.path.split("?");
  const params = new URLSearchParams(query);
  params.set("cursor", cursor);
  return { ...call, path: `${path}?${params.toString().replaceAll("%2C", ",")}` };
}
