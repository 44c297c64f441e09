import { Elysia } from "elysia";
import { addUnimplemented, type UnimplementedRoute } from "../../http/operation.ts";

const casts = ["Casts"];
const users = ["Users"];
const follows = ["Follows"];
const reactions = ["Reactions"];
const channels = ["Channels"];
const signers = ["Signers and on-chain events"];
const blocks = ["Blocks"];
const notifications = ["Notifications"];

/** Writes of protocol data. The native dialect has none of them, the compat dialect those that `served` names. They are rejected without reading their bodies. */
// biome-ignore format: one route a line
const routes: readonly UnimplementedRoute[] = [
  { method: "POST", path: "/cast", operationId: "publishCast", summary: "Publish a cast", tags: casts },
  { method: "DELETE", path: "/cast", operationId: "deleteCast", summary: "Delete a cast", tags: casts },
  { method: "POST", path: "/user/register", operationId: "registerUser", summary: "Register an fid", tags: users },
  { method: "PATCH", path: "/user", operationId: "updateUser", summary: "Change a profile", tags: users },
  { method: "POST", path: "/user/verification", operationId: "addVerification", summary: "Verify an address", tags: users },
  { method: "DELETE", path: "/user/verification", operationId: "deleteVerification", summary: "Remove a verification", tags: users },
  { method: "POST", path: "/user/follow", operationId: "followUser", summary: "Follow users", tags: follows },
  { method: "DELETE", path: "/user/follow", operationId: "unfollowUser", summary: "Unfollow users", tags: follows },
  { method: "POST", path: "/follow", aliasOf: "/user/follow", operationId: "followUser", summary: "Follow users", tags: follows },
  { method: "DELETE", path: "/follow", aliasOf: "/user/follow", operationId: "unfollowUser", summary: "Unfollow users", tags: follows },
  { method: "POST", path: "/reaction", operationId: "publishReaction", summary: "Like or recast", tags: reactions },
  { method: "DELETE", path: "/reaction", operationId: "deleteReaction", summary: "Remove a like or recast", tags: reactions },
  { method: "POST", path: "/channel/follow", operationId: "followChannel", summary: "Follow a channel", tags: channels },
  { method: "DELETE", path: "/channel/follow", operationId: "unfollowChannel", summary: "Unfollow a channel", tags: channels },
  { method: "POST", path: "/channel/member/invite", operationId: "inviteChannelMember", summary: "Invite to a channel", tags: channels },
  { method: "PUT", path: "/channel/member/invite", operationId: "respondToChannelInvite", summary: "Respond to an invitation to a channel", tags: channels },
  { method: "DELETE", path: "/channel/member", operationId: "removeChannelMember", summary: "Remove a channel member", tags: channels },
  { method: "POST", path: "/signer", operationId: "createSigner", summary: "Create a signer", tags: signers },
  { method: "POST", path: "/signer/signed_key", operationId: "registerSignedKey", summary: "Register a signed key", tags: signers },
  { method: "POST", path: "/signer/developer_managed", operationId: "createDeveloperManagedSigner", summary: "Create a developer-managed signer", tags: signers },
  { method: "POST", path: "/signer/developer_managed/signed_key", operationId: "registerDeveloperManagedSignedKey", summary: "Register a signed key of a developer-managed signer", tags: signers },
  { method: "POST", path: "/block", operationId: "publishBlock", summary: "Block a user", tags: blocks },
  { method: "DELETE", path: "/block", operationId: "deleteBlock", summary: "Unblock a user", tags: blocks },
  { method: "POST", path: "/mute", operationId: "publishMute", summary: "Mute a user", tags: blocks },
  { method: "DELETE", path: "/mute", operationId: "deleteMute", summary: "Unmute a user", tags: blocks },
  { method: "POST", path: "/ban", operationId: "publishBans", summary: "Ban users", tags: blocks },
  { method: "DELETE", path: "/ban", operationId: "deleteBans", summary: "Unban users", tags: blocks },
  { method: "POST", path: "/notifications/seen", operationId: "markNotificationsSeen", summary: "Mark notifications as seen", tags: notifications },
  { method: "POST", path: "/notifications/mark_seen", aliasOf: "/notifications/seen", operationId: "markNotificationsSeen", summary: "Mark notifications as seen", tags: notifications },
];

/**
 * @param options.served operation ids that the dialect serves, and which are therefore left out
 * @param options.reasons error texts by operation id; default: the usual one
 */
export function notImplementedRoutes({
  served = [],
  reasons = {},
  when = "Always. The native dialect writes no protocol data; submit signed messages to the gRPC method `SubmitMessage`.",
}: {
  readonly served?: readonly string[];
  readonly reasons?: Readonly<Record<string, string>>;
  readonly when?: string;
} = {}) {
  const left = routes
    .filter(({ operationId }) => !served.includes(operationId))
    .map((route) => {
      const message = reasons[route.operationId];
      return message === undefined ? route : { ...route, message };
    });
  return addUnimplemented(new Elysia({ name: "not-implemented" }), left, when);
}
