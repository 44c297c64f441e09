import { Type } from "@sinclair/typebox";
import { object } from "../dialects/fields.ts";
import { type Surface, unserved } from "../op.ts";
import { topic } from "../topic.ts";

const { op } = topic();

/** Why the native dialect refuses every write of protocol data. */
export const NO_NATIVE_WRITES = {
  when: "Always. The native dialect writes no protocol data; submit signed messages to the gRPC method `SubmitMessage`.",
  message:
    "not implemented: this path writes nothing; submit a signed message with SubmitMessage over gRPC or POST /v1/submitMessage, or write by a managed signer with an API key under /v2/farcaster",
} as const;
const NOT_IN_PROTOCOL = "Always. Neither the protocol nor this service has such an operation.";
const NOT_HERE = "Always. The operation belongs to a hosted API and has no counterpart in this service.";
const HAS_SUCCESSOR = "Always. The hosted API has replaced the operation.";

const REGISTRATION = "not implemented: registering an fid needs a funded wallet and a name server";
const OWN_KEYS =
  "not implemented: this node does not hold the key; publish a signed KEY_ADD with POST /message";
const ACTIONS = "not implemented: the protocol has no actions of one app in another";
const STORAGE = "not implemented: storage is rented on chain, with a funded wallet";
const PAYMENTS = "not implemented: this service takes no payments";
const HOST_EVENTS = "not implemented: the client app that hosts a mini app signs its events itself";
const HOST_STATE = "not implemented: the client app that hosts a mini app keeps its state of a user";
const TOKENS = "not implemented: this service reads no tokens, balances or NFTs of chains";
const WALLETS = "not implemented: this service holds no wallets, so it neither sends tokens nor mints";

/** Writes that neither dialect has. The native one refuses them like every write. */
// biome-ignore format: one operation a line
const WRITES = [
  { method: "POST", path: "/user/register", id: "registerUser", message: REGISTRATION, summary: "Register an fid", tag: "Users" },
  { method: "POST", path: "/signer/developer_managed", id: "createDeveloperManagedSigner", message: OWN_KEYS, summary: "Create a developer-managed signer", tag: "Signers and on-chain events" },
] as const;

/** Writes by signers that the compat dialect has. */
// biome-ignore format: one operation a line
const NATIVE_WRITES = [
  { method: "POST", path: "/signer", id: "createSigner", summary: "Create a signer", tag: "Signers and on-chain events" },
  { method: "POST", path: "/signer/signed_key", id: "registerSignedKey", summary: "Register a signed key", tag: "Signers and on-chain events" },
  { method: "POST", path: "/signer/developer_managed/signed_key", id: "registerDeveloperManagedSignedKey", summary: "Register a signed key of a developer-managed signer", tag: "Signers and on-chain events" },
] as const;

/** Operations that only clients of the hosted API call. */
// biome-ignore format: one operation a line
const HOSTED = [
  { method: "POST", path: "/user", id: "registerAccount", message: REGISTRATION, summary: "Register an account", tag: "Users" },
  { method: "POST", path: "/action", id: "publishAction", message: ACTIONS, summary: "Post a frame action", tag: "Mini apps" },
  { method: "POST", path: "/storage/buy", id: "buyStorage", message: STORAGE, summary: "Buy storage for a user", tag: "Storage" },
  { method: "POST", path: "/frame/transaction/pay", id: "createPayment", message: PAYMENTS, summary: "Create a payment page", tag: "Mini apps" },
  { method: "POST", path: "/app_host/user/event", id: "postHostEvent", message: HOST_EVENTS, summary: "Report an event of a mini app's host", tag: "Mini apps" },
  { method: "GET", path: "/app_host/user/event", id: "getHostEvent", message: HOST_EVENTS, summary: "The event of a mini app's host, to be signed", tag: "Mini apps" },
  { method: "GET", path: "/app_host/user/state", id: "getHostState", message: HOST_STATE, summary: "The mini apps that a user has added", tag: "Mini apps" },
  { method: "GET", path: "/frame/transaction/pay", id: "getPayment", message: PAYMENTS, summary: "A payment page", tag: "Mini apps" },
  { method: "GET", path: "/fungibles", id: "getFungibles", message: TOKENS, summary: "Tokens", tag: "Wallets and tokens" },
  { method: "GET", path: "/fungible/trades", id: "getFungibleTrades", message: TOKENS, summary: "Trades of a token", tag: "Wallets and tokens" },
  { method: "GET", path: "/fungible/trending", id: "getTrendingFungibles", message: TOKENS, summary: "Trending tokens", tag: "Wallets and tokens" },
  { method: "GET", path: "/fungible/owner/relevant", id: "getRelevantOwners", message: TOKENS, summary: "Owners of a token whom a user may know", tag: "Wallets and tokens" },
  { method: "GET", path: "/fungible/owner/relevant/bulk", id: "getBulkRelevantOwners", message: TOKENS, summary: "Owners of tokens whom a user may know", tag: "Wallets and tokens" },
  { method: "POST", path: "/fungible/send", id: "sendFungibles", message: WALLETS, summary: "Send tokens to users", tag: "Wallets and tokens" },
  { method: "POST", path: "/nft/deploy/erc721", id: "deployNft", message: WALLETS, summary: "Deploy an NFT contract", tag: "Wallets and tokens" },
  { method: "POST", path: "/nft/image", id: "makeNftImage", message: WALLETS, summary: "Make the image of an NFT", tag: "Wallets and tokens" },
  { method: "POST", path: "/nft/metadata/token", id: "storeNftMetadata", message: WALLETS, summary: "Store the metadata of an NFT", tag: "Wallets and tokens" },
  { method: "GET", path: "/nft/mint", id: "simulateNftMint", message: WALLETS, summary: "Simulate the mint of an NFT", tag: "Wallets and tokens" },
  { method: "POST", path: "/nft/mint", id: "mintNft", message: WALLETS, summary: "Mint an NFT", tag: "Wallets and tokens" },
] as const;

/** Paths of the hosted API that have a successor but are still called by apps. */
// biome-ignore format: one operation a line
const RETIRED = [
  { method: "POST", path: "/frame/validate", id: "validateFrameAction", successor: "mini apps sign their events; register one and read its token webhook", summary: "Validate a frame action", tag: "Mini apps" },
  { method: "GET", path: "/feed/frames", id: "getFramesFeed", successor: "use GET /frame/catalog", summary: "Casts with frames", tag: "Feeds" },
  { method: "GET", path: "/user/power", id: "getPowerUsersOfRetiredPath", successor: "use GET /user/power_users", summary: "Power users", tag: "Users" },
  { method: "GET", path: "/user/relevant_followers", id: "getRelevantFollowersOfRetiredPath", successor: "use GET /followers/relevant", summary: "Relevant followers", tag: "Follows" },
] as const;

interface EmptyList {
  readonly id: string;
  readonly path: string;
  readonly surface?: Surface;
  readonly tag: string;
  readonly summary: string;
  readonly key: string;
  /** The key of the list in the compat dialect, if it differs. */
  readonly compatKey?: string;
  /** Default: true. */
  readonly isPaged?: boolean;
}

/** Lists that clients request but for which the protocol has no data. */
// biome-ignore format: one operation a line
const EMPTY_LISTS: readonly EmptyList[] = [
  { path: "/user/power_users", key: "users", isPaged: false, id: "getPowerUsers", summary: "Power users", tag: "Users" },
  { path: "/user/balance", surface: "native", key: "balances", id: "getUserBalance", summary: "Token balances of a user", tag: "Users" },
  { path: "/user/subscribed_to", key: "subscriptions", compatKey: "subscribed_to", id: "getSubscribedTo", summary: "Subscriptions of a user", tag: "Users" },
  { path: "/user/subscribers", key: "subscriptions", compatKey: "subscribers", id: "getSubscribers", summary: "Subscribers of a user", tag: "Users" },
  { path: "/user/subscriptions_created", key: "subscriptions", compatKey: "subscriptions_created", id: "getSubscriptionsCreated", summary: "Subscriptions that a user offers", tag: "Users" },
  { path: "/channel/member/invite/list", key: "members", compatKey: "invites", id: "getChannelInvites", summary: "Invitations to channels", tag: "Channels" },
  { path: "/signer/signed_key", key: "events", id: "getSignedKeys", summary: "Signed keys managed by the service", tag: "Signers and on-chain events" },
  { path: "/signer/developer_managed", surface: "native", key: "events", id: "getDeveloperManagedSigners", summary: "Developer-managed signers", tag: "Signers and on-chain events" },
  { path: "/signer/developer_managed/signed_key", key: "events", id: "getDeveloperManagedSignedKeys", summary: "Signed keys of developer-managed signers", tag: "Signers and on-chain events" },
  { path: "/ban/list", surface: "native", key: "bans", id: "getBans", summary: "Bans", tag: "Blocks" },
];

export const unservedOperations = [
  ...WRITES.flatMap(({ message, ...one }) => [
    unserved({ ...one, surface: "native", ...NO_NATIVE_WRITES }),
    unserved({ ...one, surface: "compat", when: NOT_IN_PROTOCOL, message }),
  ]),
  ...NATIVE_WRITES.map((one) => unserved({ ...one, surface: "native", ...NO_NATIVE_WRITES })),
  ...HOSTED.map((one) => unserved({ ...one, surface: "compat", when: NOT_HERE })),
  ...RETIRED.map(({ successor, ...one }) =>
    unserved({ ...one, surface: "compat", kind: "gone", when: HAS_SUCCESSOR, message: `gone: ${successor}` }),
  ),
];

const NoItems = Type.Array(Type.Unknown(), { maxItems: 0 });
const NoNext = object({ cursor: Type.Null() });

function emptyList({ key, isPaged = true, compatKey: _, ...one }: EmptyList) {
  return op({
    ...one,
    description: "Always empty.",
    // Lists of signers may later include data from the state database.
    cache: one.tag === "Signers and on-chain events" ? undefined : "revalidate",
    response: object({ [key]: NoItems, ...(isPaged && { next: NoNext }) }),
    run: () => ({ [key]: [], ...(isPaged && { next: { cursor: null } }) }),
  });
}

export const emptyListOperations = EMPTY_LISTS.flatMap((one) => {
  const { compatKey } = one;
  if (compatKey === undefined) return [emptyList(one)];
  return [emptyList({ ...one, surface: "native" }), emptyList({ ...one, surface: "compat", key: compatKey })];
});
