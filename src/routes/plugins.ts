import type { AnyElysia } from "elysia";
import type { Reads } from "../read/answers.ts";
import { batchRoutes } from "./batch/routes.ts";
import { blockRoutes } from "./blocks/routes.ts";
import { castRoutes } from "./casts/routes.ts";
import { feedRoutes } from "./feeds/routes.ts";
import { followRoutes } from "./follows/routes.ts";
import { reactionRoutes } from "./reactions/routes.ts";
import { signerRoutes } from "./signers/routes.ts";
import { storageRoutes } from "./storage/routes.ts";
import { alwaysEmptyRoutes } from "./tables/always-empty.ts";
import { notImplementedRoutes } from "./tables/not-implemented.ts";
import { usernameRoutes } from "./usernames/routes.ts";
import { userListRoutes } from "./users/list-routes.ts";
import { userRoutes } from "./users/routes.ts";

/** Every route of the API, with paths within `/v2/<service>`. */
export function apiPlugins(reads: Reads): AnyElysia[] {
  return [
    userRoutes(reads),
    userListRoutes(reads),
    followRoutes(reads),
    castRoutes(reads),
    feedRoutes(reads),
    reactionRoutes(reads),
    signerRoutes(reads),
    storageRoutes(reads),
    blockRoutes(reads),
    usernameRoutes(reads),
    batchRoutes(reads),
    alwaysEmptyRoutes(),
    notImplementedRoutes(),
  ];
}
