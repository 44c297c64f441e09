import { createCommon } from "../../src/cli/common.ts";
import { createSupport, type Support } from "../../src/cli/sdk-report/request-support.ts";
import type { Config } from "../../src/config/schema.ts";
import { withDetachedApi } from "../../src/node/compose/detached-api.ts";

/** What `doctor --sdk` knows of the routes of a node with these settings. */
export async function compatSupport(config: Config): Promise<Support> {
  const context = { exitCode: 0, flags: () => ({}) };
  const common = createCommon(context, {
    loaded: {
      config,
      file: undefined,
      consoleFile: undefined,
      sources: new Map(),
      places: new Map(),
      warnings: [],
    },
  });
  return await withDetachedApi(common, async (api) => createSupport(config, api.compatPlugins()));
}
