import { Elysia } from "elysia";
import { addUnimplemented, type UnimplementedRoute } from "../../http/operation.ts";

const REGISTRATION = "not implemented: registering an fid needs a funded wallet and a name server";
const CHANNELS = "not implemented: the protocol has no messages for channels yet";
const BANS = "not implemented: the protocol has no bans";
const OWN_KEYS =
  "not implemented: this node does not hold the key; publish a signed KEY_ADD with POST /message";
const ACTIONS = "not implemented: the protocol has no actions of one app in another";
const STORAGE = "not implemented: storage is rented on chain, with a funded wallet";
const PAYMENTS = "not implemented: this service takes no payments";
const AUTH_ADDRESS_KEYS = "not implemented: auth addresses are added on chain, by their user";
const HOST_EVENTS = "not implemented: the client app that hosts a mini app signs its events itself";
const HOST_STATE = "not implemented: the client app that hosts a mini app keeps its state of a user";
const CATALOG = "not implemented: this service keeps no catalog of mini apps";
const TOKENS = "not implemented: this service reads no tokens, balances or NFTs of chains";
const WALLETS = "not implemented: this service holds no wallets, so it neither sends tokens nor mints";
const TOPICS = "not implemented: this service finds no topics in casts";
const SIGN_IN =
  "not implemented: its vendor retired this sign-in; use GET /login/nonce and GET /signer/list, or a managed signer";

const apps = ["Mini apps"];
const wallets = ["Wallets and tokens"];

/** Additional operations of the hosted API's clients; they are rejected like the others. */
// biome-ignore format: one route a line
const routes: readonly UnimplementedRoute[] = [
  { method: "POST", path: "/user", operationId: "registerAccount", message: REGISTRATION, summary: "Register an account", tags: ["Users"] },
  { method: "POST", path: "/auth_address/developer_managed/signed_key", operationId: "registerAuthAddressSignedKey", message: AUTH_ADDRESS_KEYS, summary: "Register a signed key of an auth address", tags: ["Signers"] },
  { method: "POST", path: "/action", operationId: "publishAction", message: ACTIONS, summary: "Post a frame action", tags: apps },
  { method: "POST", path: "/storage/buy", operationId: "buyStorage", message: STORAGE, summary: "Buy storage for a user", tags: ["Storage"] },
  { method: "POST", path: "/frame/transaction/pay", operationId: "createPayment", message: PAYMENTS, summary: "Create a payment page", tags: apps },
  { method: "POST", path: "/app_host/user/event", operationId: "postHostEvent", message: HOST_EVENTS, summary: "Report an event of a mini app's host", tags: apps },
  { method: "GET", path: "/app_host/user/event", operationId: "getHostEvent", message: HOST_EVENTS, summary: "The event of a mini app's host, to be signed", tags: apps },
  { method: "GET", path: "/app_host/user/state", operationId: "getHostState", message: HOST_STATE, summary: "The mini apps that a user has added", tags: apps },
  { method: "GET", path: "/frame/catalog", operationId: "getAppCatalog", message: CATALOG, summary: "A catalog of mini apps", tags: apps },
  { method: "GET", path: "/frame/relevant", operationId: "getRelevantApps", message: CATALOG, summary: "Mini apps for a user", tags: apps },
  { method: "GET", path: "/frame/search", operationId: "searchApps", message: CATALOG, summary: "Search mini apps", tags: apps },
  { method: "GET", path: "/frame/transaction/pay", operationId: "getPayment", message: PAYMENTS, summary: "A payment page", tags: apps },
  { method: "GET", path: "/fungibles", operationId: "getFungibles", message: TOKENS, summary: "Tokens", tags: wallets },
  { method: "GET", path: "/fungible/trades", operationId: "getFungibleTrades", message: TOKENS, summary: "Trades of a token", tags: wallets },
  { method: "GET", path: "/fungible/trending", operationId: "getTrendingFungibles", message: TOKENS, summary: "Trending tokens", tags: wallets },
  { method: "GET", path: "/fungible/owner/relevant", operationId: "getRelevantOwners", message: TOKENS, summary: "Owners of a token whom a user may know", tags: wallets },
  { method: "GET", path: "/fungible/owner/relevant/bulk", operationId: "getBulkRelevantOwners", message: TOKENS, summary: "Owners of tokens whom a user may know", tags: wallets },
  { method: "POST", path: "/fungible/send", operationId: "sendFungibles", message: WALLETS, summary: "Send tokens to users", tags: wallets },
  { method: "POST", path: "/nft/deploy/erc721", operationId: "deployNft", message: WALLETS, summary: "Deploy an NFT contract", tags: wallets },
  { method: "POST", path: "/nft/image", operationId: "makeNftImage", message: WALLETS, summary: "Make the image of an NFT", tags: wallets },
  { method: "POST", path: "/nft/metadata/token", operationId: "storeNftMetadata", message: WALLETS, summary: "Store the metadata of an NFT", tags: wallets },
  { method: "GET", path: "/nft/mint", operationId: "simulateNftMint", message: WALLETS, summary: "Simulate the mint of an NFT", tags: wallets },
  { method: "POST", path: "/nft/mint", operationId: "mintNft", message: WALLETS, summary: "Mint an NFT", tags: wallets },
  { method: "GET", path: "/topic/trending", operationId: "getTrendingTopics", message: TOPICS, summary: "Trending topics", tags: ["Feeds"] },
  { method: "GET", path: "/login/authorize", operationId: "authorizeLogin", message: SIGN_IN, summary: "Sign in with the vendor of the hosted API", tags: ["Signers"] },
];

/** Why some operations of the hosted API exist nowhere in this service, by operation id. */
export const NOT_IMPLEMENTED_REASONS: Readonly<Record<string, string>> = {
  registerUser: REGISTRATION,
  followChannel: CHANNELS,
  unfollowChannel: CHANNELS,
  inviteChannelMember: CHANNELS,
  respondToChannelInvite: CHANNELS,
  removeChannelMember: CHANNELS,
  publishBans: BANS,
  deleteBans: BANS,
  createDeveloperManagedSigner: OWN_KEYS,
  registerDeveloperManagedSignedKey: OWN_KEYS,
};

export function clientOnlyRoutes() {
  const when = "Always. The operation belongs to a hosted API and has no counterpart in this service.";
  return addUnimplemented(new Elysia({ name: "farcaster-not-implemented" }), routes, when);
}
