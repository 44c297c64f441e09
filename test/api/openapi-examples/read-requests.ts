import type { JsonObject } from "../../../src/http/openapi/document.ts";
import { isObject } from "../../../src/http/openapi/document.ts";
import type { TestApi } from "../../support/api.ts";
import { REGISTERED_CHANNEL } from "./demo-api.ts";
import { hubRequests } from "./hub-requests.ts";
import type { DocumentedOperation, ExampleRequest } from "./operations.ts";

/** Requests of the reads, about users, casts and channels of the demo network with non-empty responses. */
export type ReadRequests = (operation: DocumentedOperation) => ExampleRequest;

/** Parameters that a request has if its operation declares them, required or not. */
const OFTEN = ["limit", "viewer_fid", "reply_depth", "target_fid"];

const [NEWCOMER, RECOVERY] = [`0x${"a1".repeat(20)}`, `0x${"b2".repeat(20)}`];
const REQUEST = { fid: 4 };

/** The bodies of reads that are not a list of fids. */
const BODIES: Readonly<Record<string, JsonObject>> = {
  prepareRegistration: { address: NEWCOMER, recovery: RECOVERY },
  prepareStorage: { fid: 3, units: 1 },
  prepareKey: { fid: 3, key: `0x${"c3".repeat(32)}`, request: REQUEST },
  prepareAuthAddress: { fid: 3, address: NEWCOMER, request: REQUEST },
};

/** The channel in which others reply to the fid of most examples. */
const KITCHEN_URL = "https://warpcast.com/~/channel/kitchen";

interface DemoUser {
  readonly custody_address: string;
  readonly verified_addresses: { readonly eth_addresses: readonly string[] };
  readonly verified_accounts: readonly { readonly platform: string; readonly username: string }[];
}

interface DemoCast {
  readonly hash: string;
  readonly author: { readonly fid: number };
  readonly replies: { readonly count: number };
  readonly reactions: { readonly likes_count: number };
  readonly embeds: readonly { readonly cast_id?: { readonly hash: string } }[];
  readonly channel: { readonly id: string; readonly parent_url: string } | null;
}

export async function readRequests(api: TestApi): Promise<ReadRequests> {
  const read = async <T>(path: string): Promise<T> =>
    (await (await fetch(`${api.url}/v2/svc${path}`)).json()) as T;
  const { user } = await read<{ user: DemoUser }>("/user?fid=3");
  const { users } = await read<{ users: DemoUser[] }>(`/user/bulk?fids=${[1, 2, 6, 8, 9, 10, 14, 16]}`);
  const { casts } = await read<{ casts: DemoCast[] }>("/feed/trending?limit=100");
  const { key: authKey } = api.node.db.sqlite
    .query<{ key: Uint8Array }, []>(
      "SELECT key FROM signers WHERE key_type = 2 AND state = 1 ORDER BY fid LIMIT 1",
    )
    .get() ?? { key: new Uint8Array(32) };
  const authAddress = Buffer.from(authKey.subarray(12)).toString("hex");
  const { events } = await read<{ events: { signer_key: string }[] }>("/signer?fid=3");
  const onX = found(
    users.flatMap((one) => one.verified_accounts),
    ({ platform }) => platform === "x",
  );
  const thread = found(casts, (cast) => cast.channel !== null && cast.replies.count > 1);
  const quote = found(casts, ({ embeds }) => embeds.some(({ cast_id }) => cast_id !== undefined));
  const quoted = quote.embeds.flatMap(({ cast_id }) => cast_id?.hash ?? [])[0] ?? "";
  const channel = thread.channel?.id ?? "";

  const hub = await hubRequests(api, {
    fid: thread.author.fid,
    hash: thread.hash,
    parentUrl: thread.channel?.parent_url ?? "",
  });

  const params: JsonObject = {
    fid: 3,
    fids: [3, 4],
    target_fid: 4,
    username: "mirawren",
    fname: "mirawren",
    x_username: onX.username,
    custody_address: user.custody_address,
    addresses: [...user.verified_addresses.eth_addresses.slice(0, 1)],
    location: "geo:55.95",
    identifier: thread.hash,
    hash: thread.hash,
    hashes: [thread.hash],
    casts: [thread.hash],
    type: "hash",
    reply_depth: 1,
    id: channel,
    ids: [channel],
    channel_id: channel,
    channel_ids: [channel],
    parent_urls: [thread.channel?.parent_url ?? ""],
    public_key: events[0]?.signer_key ?? "",
    q: "bread",
    limit: 1,
    viewer_fid: 4,
  };
  /** Overrides for operations whose examples need other values or optional parameters. */
  const special: Readonly<Record<string, JsonObject>> = {
    "native getUserByXUsername": { username: params.x_username ?? "" },
    "native getBlocks": { fid: 16 },
    "native getMutes": { fid: 13 },
    "native getInteractions": { target_fid: 194 },
    "native getParentUrlNotifications": { parent_urls: [KITCHEN_URL] },
    "native getFeed": { fid: 3 },
    "native getChannelFeed": { id: REGISTERED_CHANNEL },
    "native getChannelRoles": { id: REGISTERED_CHANNEL },
    "native getFollowersOfChannel": { id: REGISTERED_CHANNEL },
    "native getChannelPin": { id: REGISTERED_CHANNEL },
    "native getChannelModerations": { id: REGISTERED_CHANNEL },
    "native getChannelBans": { id: REGISTERED_CHANNEL },
    "native getReactions": { hash: thread.hash },
    "native getCastQuotes": { identifier: quoted },
    "native searchUsers": { q: "mira" },
    "native searchChannels": { q: channel.slice(0, 2) },
    "compat getBlocks": { blocker_fid: 16 },
    "compat getMutes": { fid: 13 },
    "compat getFeed": { fid: 3 },
    "compat getChannelMembers": { channel_id: REGISTERED_CHANNEL },
    "compat getChannelFollowers": { id: REGISTERED_CHANNEL },
    "compat getReactions": { hash: thread.hash },
    "compat getCastQuotes": { identifier: quoted },
    "compat searchUsers": { q: "mira" },
    "compat searchChannels": { q: channel.slice(0, 2) },
    "compat getUsersByLocation": { latitude: 55.95, longitude: -3.19 },
    "compat lookupDeveloperManagedAuthAddress": { address: `0x${authAddress}` },
    "compat getInteractions": { fids: [3, 194] },
    "compat getParentUrlNotifications": { parent_urls: [KITCHEN_URL] },
    "compat getRelevantFollowers": { target_fid: 3 },
    "compat searchApps": { q: "bread" },
    "compat getFeedByTopic": { slug: "bread" },
    "compat crawlCastEmbed": { url: "https://demo.example/read/bread/1" },
  };

  return ({ dialect, id, operation }) => {
    if (operation.requestBody !== undefined) return { body: BODIES[id] ?? { fids: [3] } };
    const overrides = hub[id] ?? special[`${dialect} ${id}`] ?? {};
    const parameters = Array.isArray(operation.parameters) ? operation.parameters : [];
    const query = parameters.flatMap((parameter) => {
      if (!isObject(parameter)) return [];
      const name = String(parameter.name);
      const isUsed = parameter.required === true || OFTEN.includes(name) || name in overrides;
      const isLeftOut = "fids" in overrides && name === "target_fid";
      const value = overrides[name] ?? params[name];
      if (!isUsed || isLeftOut) return [];
      if (value === undefined) throw new Error(`${dialect} ${id}: no value for the parameter ${name}`);
      return [[name, value] as const];
    });
    return { query: Object.fromEntries(query) };
  };
}

function found<T>(items: readonly T[], fits: (item: T) => boolean): T {
  const item = items.find(fits);
  if (item === undefined) throw new Error("the demo network shows too little");
  return item;
}
