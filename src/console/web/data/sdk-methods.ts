/** Names and values of a query. */
type Query = Readonly<Record<string, string>>;
type Arguments = Readonly<Record<string, unknown>>;

/** A method of the hosted API's SDK that asks what a native route answers. */
export interface SdkMethod {
  /** Path below `/v2/<service>`. */
  readonly route: string;
  readonly name: string;
  /** The arguments of the method for a query of the route; undefined where the method cannot ask the same. */
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

/** The SDK names the parameters of the query in camelCase. */
const same = (query: Query): Arguments =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [camel(name), argument(name, value)]));

/** As `same`, with arguments that make the hosted API answer as the native one does by default. */
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
  ["/user/channels", "fetchUsersActiveChannels"],
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

export const sdkMethods: readonly SdkMethod[] = METHODS.map(([route, name, params = same]) => ({
  route,
  name,
  params,
}));
