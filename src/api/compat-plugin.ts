import type { AnyElysia } from "elysia";
import { callerOf } from "../http/exchange.ts";
import type { ApiDeps, Dialect, OwnerRulesOf } from "./deps.ts";
import { compatDialect } from "./dialects/compat.ts";
import { pluginOf } from "./op.ts";
import { OPERATIONS } from "./operations.ts";

/** Returns the routes of the API in the compat dialect. A program can be built without this module. */
export function compatPlugin(depsOf: (dialect: Dialect) => ApiDeps): AnyElysia {
  const deps = depsOf(compatDialect);
  return pluginOf("compat", OPERATIONS, { ...deps, ownerRulesOf: ownerRulesOf(deps) });
}

const ownerRulesOf =
  ({ moderation }: ApiDeps): OwnerRulesOf =>
  (request, { viewer_fid: viewer, fid }) => {
    const caller = callerOf(request);
    if (caller.kind !== "apiKey") return undefined;
    return moderation.rulesOf(
      caller,
      [viewer, fid].filter((user) => typeof user === "number"),
    );
  };
