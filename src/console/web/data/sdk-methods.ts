/** A method of the hosted API's SDK that asks what a native route answers. */
export interface SdkMethod {
  /** Path below `/v2/<service>`. */
  readonly route: string;
  readonly name: string;
  /** The arguments of the method for a query of the route; undefined where the method cannot ask the same. */
  readonly params: (query: URLSearchParams) => Readonly<Record<string, unknown>> | undefined;
}

const NUMBERS = new Set(["fid", "limit", "viewer_fid", "reply_depth"]);
const NUMBER_LISTS = new Set(["fids"]);

const camel = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function argument(name: string, value: string): unknown {
  if (NUMBERS.has(name)) return Number(value);
  if (NUMBER_LISTS.has(name)) return value.split(",").map(Number);
  return value === "true" || value === "false" ? value === "true" : value;
}

/** The SDK names the parameters of the query in camelCase. */
const sameParams = (query: URLSearchParams) =>
  Object.fromEntries([...query].map(([name, value]) => [camel(name), argument(name, value)]));

export const sdkMethods: readonly SdkMethod[] = [
  { route: "/feed/trending", name: "fetchTrendingFeed", params: sameParams },
  { route: "/channel/trending", name: "fetchTrendingChannels", params: sameParams },
];
