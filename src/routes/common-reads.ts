import type { AnyElysia } from "elysia";
import { batchRoutes } from "./batch/routes.ts";
import { castPlaceholderRoutes } from "./casts/placeholder-routes.ts";
import { castRoutes } from "./casts/routes.ts";
import { channelRoutes } from "./channels/routes.ts";
import { userChannelRoutes } from "./channels/user-routes.ts";
import type { ReadParts } from "./dialect.ts";
import { popularFeedRoutes } from "./feeds/popular-routes.ts";
import { feedRoutes } from "./feeds/routes.ts";
import { followRoutes } from "./follows/routes.ts";
import { registryRoutes } from "./signers/routes.ts";
import { storageRoutes } from "./storage/routes.ts";
import { usernameRoutes } from "./usernames/routes.ts";
import { userRoutes } from "./users/routes.ts";
import { userSearchRoutes } from "./users/search-routes.ts";

/** The reads that every dialect has, each in its own words. */
export function commonReads(parts: ReadParts): AnyElysia[] {
  const { reads } = parts;
  return [
    userRoutes(parts),
    userSearchRoutes(parts),
    followRoutes(parts),
    castRoutes(parts),
    castPlaceholderRoutes(parts),
    feedRoutes(parts),
    popularFeedRoutes(parts),
    registryRoutes(reads),
    storageRoutes(parts),
    usernameRoutes(reads),
    batchRoutes(reads),
    channelRoutes(parts),
    userChannelRoutes(parts),
  ];
}
