import { type AnyElysia, Elysia } from "elysia";
import { ApiError } from "../../http/errors.ts";
import { UNSERVED } from "../../hub/reads/unserved.ts";
import { accountRoutes } from "./account-routes.ts";
import { eventRoutes } from "./event-routes.ts";
import { messageRoutes } from "./message-routes.ts";
import { refusalResponse } from "./responses.ts";
import { type SubmitDeps, submitRoutes } from "./submit-routes.ts";

/** Dependencies of the routes under `/v1`. */
export type HubHttpDeps = SubmitDeps;

/** The paths that a hub has and this node does not serve, and why. */
const REFUSED: readonly (readonly [path: RegExp, reason: string])[] = [
  [/^\/v1\/(channel\w*|isFollowingChannel)$/, "this node does not serve the channels of hubs"],
  [/^\/v1\/mesh(\/ui)?$/, UNSERVED.GetMeshView ?? ""],
];

/** Returns the routes under `/v1`, with paths relative to it. */
export function hubPlugins(deps: HubHttpDeps): AnyElysia[] {
  const { reads } = deps;
  const refuse = ({ path }: { readonly path: string }) => {
    const reason = REFUSED.find(([refused]) => refused.test(path))?.[1];
    if (reason === undefined) throw new ApiError("notFound", "unknown route");
    return refusalResponse({ code: "unimplemented", reason });
  };
  return [
    messageRoutes(reads),
    accountRoutes(reads),
    eventRoutes(reads),
    submitRoutes(deps),
    new Elysia({ name: "hub-unserved" }).all("/*", refuse, { detail: { hide: true } }),
  ];
}
