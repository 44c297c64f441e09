import type { AnyElysia } from "elysia";
import type { ApiDeps, Dialect } from "./deps.ts";
import { compatDialect } from "./dialects/compat.ts";
import { pluginOf } from "./op.ts";
import { OPERATIONS } from "./operations.ts";

/** Returns the routes of the API in the compat dialect. A program can be built without this module. */
export function compatPlugin(depsOf: (dialect: Dialect) => ApiDeps): AnyElysia {
  return pluginOf("compat", OPERATIONS, depsOf(compatDialect));
}
