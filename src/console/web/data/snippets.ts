import type { Call, Site, Snippet } from "./call.ts";

/**
 * Returns the ways to copy a call, shortest first. A call without a matching SDK method has no snippet for the SDK. A signed operation
 * brings its own snippets.
 */
export function snippetsOf(call: Call, site: Site): readonly Snippet[] {
  if (call.snippets) return call.snippets(call, site);
  const sdk = sdkSnippet(call, site);
  return [
    { language: "curl", text: curl(call, site) },
    { language: "TypeScript", text: typeScript(call, site) },
    ...(sdk === undefined ? [] : [{ language: "SDK", text: sdk }]),
  ];
}

/** Quotes a text as a single literal word of a POSIX shell. */
export const shellQuote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Paths outside `/v2/` belong to the page and need no key. */
const needsKey = ({ path }: Call, { needsApiKey }: Site) => needsApiKey && path.startsWith("/v2/");

function curl(call: Call, site: Site): string {
  const key = needsKey(call, site) ? '-H "x-api-key: $SECRET" ' : "";
  const url = `${key}${shellQuote(`${site.origin}${call.path}`)}`;
  if (call.isStream) return `curl -N ${url}`;
  if (call.body === undefined) return call.method === "GET" ? `curl ${url}` : `curl -X ${call.method} ${url}`;
  const method = call.method === "POST" ? "" : `-X ${call.method} `;
  return `curl ${method}${url} \\\n  --json ${shellQuote(JSON.stringify(call.body))}`;
}

function typeScript(call: Call, site: Site): string {
  const url = JSON.stringify(`${site.origin}${call.path}`);
  const headers = [
    ...(needsKey(call, site) ? ['"x-api-key": process.env.SECRET!'] : []),
    ...(call.body === undefined ? [] : ['"content-type": "application/json"']),
  ];
  const init = [
    ...(call.method === "GET" ? [] : [`method: "${call.method}"`]),
    ...(headers.length === 0 ? [] : [`headers: { ${headers.join(", ")} }`]),
    ...(call.body === undefined ? [] : [`body: JSON.stringify(${JSON.stringify(call.body)})`]),
  ];
  const options = init.length === 0 ? "" : `, {\n${init.map((line) => `  ${line},`).join("\n")}\n}`;
  const fetched = `const response = await fetch(${url}${options});\n`;
  if (call.isStream)
    return `${fetched}for await (const text of response.body!.pipeThrough(new TextDecoderStream())) console.log(text);`;
  return `${fetched}const body = await response.json();`;
}

function sdkSnippet(call: Call, site: Site): string | undefined {
  if (call.method !== "GET") return undefined;
  const [path = "", query = ""] = call.path.split("?");
  const route = path.replace(/^\/v2\/[^/]+/, "");
  const method = sdkMethods.find((candidate) => candidate.route === route);
  const params = method?.params(Object.fromEntries(new URLSearchParams(query)));
  if (!method || !params) return undefined;
  const apiKey = site.needsApiKey ? "process.env.SECRET!" : '"NONE"';
  const config = `{ apiKey: ${apiKey}, basePath: ${JSON.stringify(site.origin)} }`;
  return `import { Configuration, NeynarAPIClient } from "@neynar/nodejs-sdk";

const client = new NeynarAPIClient(new Configuration(${config}));
const body = await client.${method.name}(${JSON.stringify(params)});`;
}

/** Names and values of a query. */
type Query = Readonly<Record<string, string>>;
type Arguments = Readonly<Record<string, unknown>>;

/** An SDK method of the hosted API that corresponds to a native route. */
interface SdkMethod {
  /** Path below `/v2/<service>`. */
  readonly route: string;
  readonly name: string;
  /** Returns the method's arguments for a query of the route; undefined if the method cannot express it. */
  readonly params: (query: Query) => Arguments | undefined;
}

const NUMBERS = new Set(["fid", "limit", "reply_depth"]);
const LISTS = new Set(["types", "channel_ids", "addresses"]);
const NUMBER_LISTS = new Set(["fids"]);

const camel = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function argument(name: string, value: string): unknown {
  if (NUMBERS.has(name)) return Number(value);
  if (NUMBER_LISTS.has(name)) return value.split(",").map(Number);
  return LISTS.has(name) ? value.split(",") : value;
}

/** The SDK has camelCase names for query parameters. */
const same = (query: Query): Arguments =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [camel(name), argument(name, value)]));

/** Like `same`, with arguments that make the hosted API respond as the native one does by default. */
const withDefaults =
  (defaults: Arguments) =>
  (query: Query): Arguments => ({ ...defaults, ...same(query) });

const METHODS: readonly (readonly [route: string, name: string, params?: SdkMethod["params"]])[] = [
  ["/user", "fetchBulkUsers", ({ fid }) => ({ fids: [Number(fid)] })],
  ["/user/bulk", "fetchBulkUsers"],
  ["/user/by-username", "lookupUserByUsername"],
  ["/user/custody-address", "lookupUserByCustodyAddress"],
  ["/user/bulk-by-address", "fetchBulkUsersByEthOrSolAddress"],
  ["/user/search", "searchUser"],
  ["/user/followers", "fetchUserFollowers"],
  ["/user/following", "fetchUserFollowing"],
  ["/user/best_friends", "fetchUserReciprocalFollowers"],
  ["/channel/user-active", "fetchUsersActiveChannels"],
  ["/user/storage-usage", "lookupUserStorageUsage"],
  ["/user/storage-allocations", "lookupUserStorageAllocations"],
  ["/feed/trending", "fetchTrendingFeed"],
  ["/feed/user/casts", "fetchCastsForUser"],
  ["/feed/user/replies_and_recasts", "fetchRepliesAndRecastsForUser", withDefaults({ filter: "replies" })],
  ["/feed/user/popular", "fetchPopularCastsByUser"],
  ["/feed/channels", "fetchFeedByChannelIds", withDefaults({ withReplies: true })],
  ["/cast", "lookupCastByHashOrUrl", withDefaults({ type: "hash" })],
  ["/cast/conversation", "lookupCastConversation"],
  ["/cast/quotes", "fetchCastQuotes", withDefaults({ type: "hash" })],
  ["/cast/search", "searchCasts"],
  ["/reaction/cast", "fetchCastReactions"],
  ["/reaction/user", "fetchUserReactions"],
  ["/channel", "lookupChannel"],
  ["/channel/all", "fetchAllChannels"],
  ["/channel/search", "searchChannels"],
  ["/channel/members", "fetchChannelMembers"],
  ["/channel/trending", "fetchTrendingChannels"],
];

const sdkMethods: readonly SdkMethod[] = METHODS.map(([route, name, params = same]) => ({
  route,
  name,
  params,
}));
