import type { AnyElysia } from "elysia";
import type { Reads } from "../read/answers.ts";
import { castRoutes } from "./casts/routes.ts";
import { feedRoutes } from "./feeds/routes.ts";
import { userRoutes } from "./users/routes.ts";

/** Every route of the API, with paths within `/v2/<service>`. */
export function apiPlugins(reads: Reads): AnyElysia[] {
  return [userRoutes(reads), castRoutes(reads), feedRoutes(reads)];
}
