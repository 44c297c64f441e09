import { type AnyElysia, Elysia } from "elysia";
import { ApiError } from "../../http/errors.ts";
import { UNSERVED } from "../../hub/reads/unserved.ts";
import type { HubRpc } from "../../hub/rpc.ts";
import type { HubReads } from "../../read/hub/hub-reads.ts";
import { accountRoutes } from "./account-routes.ts";
import { eventRoutes } from "./event-routes.ts";
import { messageRoutes } from "./message-routes.ts";
import { refusalResponse } from "./responses.ts";
import { submitRoutes } from "./submit-routes.ts";

/** Dependencies of the routes under `/v1`. */
export interface HubHttpDeps {
  readonly reads: HubReads;
  readonly hub: HubRpc;
}

/** The paths that a hub has and this node does not serve, and why. */
const REFUSED: readonly (readonly [path: RegExp, reason: string])[] = [
  [/^\/v1\/(channel\w*|isFollowingChannel)$/, "this node does not serve the channels of hubs"],
  [/^\/v1\/mesh(\/ui)?$/, UNSERVED.GetMeshView ?? ""],
];

/** Returns the routes under `/v1`, with paths relative to it. */
export function hubPlugins({ reads, hub }: HubHttpDeps): AnyElysia[] {
  const refuse = ({ path }: { readonly path: string }) => {
    const reason = REFUSED.find(([refused]) => refused.test(path))?.[1];
    if (reason === undefined) throw new ApiError("notFound", "unknown route");
    return refusalResponse({ code: "unimplemented", reason });
  };
  return [
    messageRoutes(reads),
    accountRoutes(reads),
    eventRoutes(reads),
    submitRoutes(hub, reads),
    new Elysia({ name: "hub-unserved" }).all("/*", refuse, { detail: { hide: true } }),
  ];
}
