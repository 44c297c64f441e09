import { type AnyElysia, Elysia } from "elysia";
import { ApiError } from "../http/errors.ts";
import { UNSERVED } from "../hub/reads/unserved.ts";
import { pluginOf } from "./op.ts";
import { accountOperations } from "./operations/hub/accounts.ts";
import { hubChannelOperations } from "./operations/hub/channels.ts";
import { eventOperations } from "./operations/hub/events.ts";
import { hubMessageOperations } from "./operations/hub/messages.ts";
import { type HubDeps, refusalResponse } from "./operations/hub/operation.ts";
import { submitOperations } from "./operations/hub/submits.ts";

const HUB_OPERATIONS = [
  ...hubMessageOperations,
  ...accountOperations,
  ...hubChannelOperations,
  ...eventOperations,
  ...submitOperations,
];

/** Paths of a hub that this node does not serve, with the reason. */
const REFUSED: readonly (readonly [path: RegExp, reason: string])[] = [
  [/^\/v1\/mesh(\/ui)?$/, UNSERVED.GetMeshView ?? ""],
];

/** Returns the routes under `/v1`, with paths relative to it. */
export function hubPlugins(deps: HubDeps): AnyElysia[] {
  const refuse = ({ path }: { readonly path: string }) => {
    const reason = REFUSED.find(([refused]) => refused.test(path))?.[1];
    if (reason === undefined) throw new ApiError("notFound", "unknown route");
    return refusalResponse({ code: "unimplemented", reason });
  };
  return [
    pluginOf("hub", HUB_OPERATIONS, deps),
    new Elysia({ name: "hub-unserved" }).all("/*", refuse, { detail: { hide: true } }),
  ];
}
