import type { AnyElysia } from "elysia";
import { batchRoutes } from "../native/batch/routes.ts";
import { castPlaceholderRoutes } from "../native/casts/placeholder-routes.ts";
import { castRoutes } from "../native/casts/routes.ts";
import { channelRoutes } from "../native/channels/routes.ts";
import { userChannelRoutes } from "../native/channels/user-routes.ts";
import { popularFeedRoutes } from "../native/feeds/popular-routes.ts";
import { feedRoutes } from "../native/feeds/routes.ts";
import { followRoutes } from "../native/follows/routes.ts";
import { registryRoutes } from "../native/signers/routes.ts";
import { storageRoutes } from "../native/storage/routes.ts";
import { usernameRoutes } from "../native/usernames/routes.ts";
import { userRoutes } from "../native/users/routes.ts";
import { userSearchRoutes } from "../native/users/search-routes.ts";
import type { ReadDeps } from "./dialect.ts";

/** Returns the read routes that every dialect has, each in the shapes of its dialect. */
export function commonReads(deps: ReadDeps): AnyElysia[] {
  const { reads } = deps;
  return [
    userRoutes(deps),
    userSearchRoutes(deps),
    followRoutes(deps),
    castRoutes(deps),
    castPlaceholderRoutes(deps),
    feedRoutes(deps),
    popularFeedRoutes(deps),
    registryRoutes(reads),
    storageRoutes(deps),
    usernameRoutes(reads),
    batchRoutes(reads),
    channelRoutes(deps),
    userChannelRoutes(deps),
  ];
}
