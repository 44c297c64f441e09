import type { AnyElysia } from "elysia";
import type { Config } from "../../config/schema.ts";
import { createWebAssets } from "../../console/assets.ts";
import { pageSettingsOf } from "../../console/page-settings.ts";
import { consoleRoutes } from "../../console/routes.ts";
import type { WebBuild } from "../../console/web-build.ts";

/** The console of one HTTP worker. */
export interface ConsoleDeps {
  readonly config: Pick<Config, "service" | "console" | "auth" | "http">;
  /** Whether the index is a demo network. */
  readonly demo: boolean;
  /** Of the first HTTP worker, which bundles the sources for all, or of the executable. */
  readonly loadBuild: () => Promise<WebBuild>;
}

/** Returns the routes of the pages and of what they call. */
export function createConsole({ config, demo, loadBuild }: ConsoleDeps): readonly AnyElysia[] {
  const assets = createWebAssets(loadBuild, pageSettingsOf(config, demo));
  const { enabled, images } = config.console;
  return [consoleRoutes({ assets, enabled, images })];
}
