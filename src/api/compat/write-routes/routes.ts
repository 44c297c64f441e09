import type { AnyElysia } from "elysia";
import { publishCastRoutes } from "./cast-routes.ts";
import { publishLinkRoutes } from "./link-routes.ts";
import { type MuteRouteDeps, muteRoutes } from "./mute-routes.ts";
import { publishProfileRoutes } from "./profile-routes.ts";
import { publishReactionRoutes } from "./reaction-routes.ts";
import { type SeenRouteDeps, seenRoutes } from "./seen-routes.ts";

/** Dependencies of all writes by managed signers. */
export type PublishDeps = MuteRouteDeps & SeenRouteDeps;

/** Returns the writes by managed signers. */
export function publishRoutes(deps: PublishDeps): AnyElysia[] {
  return [
    publishCastRoutes(deps),
    publishReactionRoutes(deps),
    publishLinkRoutes(deps),
    publishProfileRoutes(deps),
    muteRoutes(deps),
    seenRoutes(deps),
  ];
}

/** The operation ids of these routes. */
export const PUBLISHED_OPERATIONS = [
  ...["publishCast", "deleteCast", "publishReaction", "deleteReaction", "followUser", "unfollowUser"],
  ...["publishBlock", "deleteBlock", "publishMute", "deleteMute", "updateUser"],
  ...["addVerification", "deleteVerification", "markNotificationsSeen"],
] as const;
