import { expect, test } from "bun:test";
import type { AnyElysia } from "elysia";
import { startTestApi } from "../support/api.ts";
import declared from "./route-cache.json";

/**
 * Which caches may store the response of each GET route is a decision, recorded in `route-cache.json`; a new route
 * must be added there. `shared` is only for a handler that reads only the index: no state, no header, no random
 * data.
 */
test("every GET route has an explicit cache decision", async () => {
  await using api = await startTestApi();
  const { plugins, compatPlugins } = api.plugins;
  expect({
    native: decisionsOf(plugins),
    compat: decisionsOf(compatPlugins()),
    hub: decisionsOf(api.hubPlugins),
  }).toEqual(declared);
});

type Decision = "shared" | "sharedWithoutKey" | "sharedWithoutRules" | "revalidate" | "no-store";

function decisionsOf(plugins: readonly AnyElysia[]): Record<Decision, string[]> {
  const decisions: Record<Decision, string[]> = {
    shared: [],
    sharedWithoutKey: [],
    sharedWithoutRules: [],
    revalidate: [],
    "no-store": [],
  };
  for (const { method, path, hooks } of plugins.flatMap((plugin) => plugin.routes)) {
    if (method === "GET") decisions[(hooks.cache as Decision | undefined) ?? "no-store"].push(path);
  }
  for (const paths of Object.values(decisions)) paths.sort();
  return decisions;
}
