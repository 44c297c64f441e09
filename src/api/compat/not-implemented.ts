import { Elysia } from "elysia";
import { addUnimplemented, type UnimplementedRoute } from "../../http/operation.ts";

/** Additional writes of the hosted API's clients; they are rejected like the others. */
// biome-ignore format: one route a line
const routes: readonly UnimplementedRoute[] = [
  { method: "POST", path: "/user", operationId: "registerAccount", summary: "Register an account", tags: ["Users"] },
  { method: "POST", path: "/action", operationId: "publishAction", summary: "Post a frame action", tags: ["Mini apps"] },
  { method: "POST", path: "/storage/buy", operationId: "buyStorage", summary: "Buy storage for a user", tags: ["Storage"] },
  { method: "POST", path: "/frame/transaction/pay", operationId: "createPayment", summary: "Create a payment page", tags: ["Mini apps"] },
  { method: "POST", path: "/app_host/user/event", operationId: "postHostEvent", summary: "Report an event of a mini app's host", tags: ["Mini apps"] },
];

/** Why some operations of the hosted API exist nowhere in this service, by operation id. */
const REGISTRATION = "not implemented: registering an fid needs a funded wallet and a name server";
const CHANNELS = "not implemented: the protocol has no messages for channels yet";
const BANS = "not implemented: the protocol has no bans";
const OWN_KEYS =
  "not implemented: this node does not hold the key; publish a signed KEY_ADD with POST /message";
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
