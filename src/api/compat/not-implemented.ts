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

/** Additional writes of the hosted API's clients; they are rejected like the others. */
// biome-ignore format: one route a line
const routes: readonly UnimplementedRoute[] = [
  { method: "POST", path: "/user", operationId: "registerAccount", message: REGISTRATION, summary: "Register an account", tags: ["Users"] },
  { method: "POST", path: "/auth_address/developer_managed/signed_key", operationId: "registerAuthAddressSignedKey", message: AUTH_ADDRESS_KEYS, summary: "Register a signed key of an auth address", tags: ["Signers"] },
  { method: "POST", path: "/action", operationId: "publishAction", message: ACTIONS, summary: "Post a frame action", tags: ["Mini apps"] },
  { method: "POST", path: "/storage/buy", operationId: "buyStorage", message: STORAGE, summary: "Buy storage for a user", tags: ["Storage"] },
  { method: "POST", path: "/frame/transaction/pay", operationId: "createPayment", message: PAYMENTS, summary: "Create a payment page", tags: ["Mini apps"] },
  { method: "POST", path: "/app_host/user/event", operationId: "postHostEvent", message: HOST_EVENTS, summary: "Report an event of a mini app's host", tags: ["Mini apps"] },
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

export function clientWriteRoutes() {
  const when = "Always. The operation belongs to a hosted API and has no counterpart in this service.";
  return addUnimplemented(new Elysia({ name: "farcaster-writes" }), routes, when);
}
