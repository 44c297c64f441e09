import type { AnyElysia } from "elysia";
import { serviceNames } from "../../config/names.ts";
import type { Config } from "../../config/schema.ts";
import { createWebAssets } from "../../console/assets.ts";
import { type DemoRoutesDeps, demoRoutes } from "../../console/demo/routes.ts";
import { pageSettingsOf } from "../../console/page-settings.ts";
import { consoleRoutes } from "../../console/routes.ts";
import type { WebBuild } from "../../console/web-build.ts";
import { createOwnOrigin } from "../../http/own-origin.ts";

/** The console of one HTTP worker. */
export interface ConsoleDeps {
  readonly config: Pick<Config, "service" | "console" | "auth" | "http">;
  /** Of the first HTTP worker, which bundles the sources for all, or of the executable. */
  readonly loadBuild: () => Promise<WebBuild>;
  /** Undefined without a demo network. */
  readonly demo: Pick<DemoRoutesDeps, "desk" | "callNode" | "stopping"> | undefined;
}

/** Returns the routes of the pages and of what they call. */
export function createConsole({ config, loadBuild, demo }: ConsoleDeps): readonly AnyElysia[] {
  const assets = createWebAssets(loadBuild, pageSettingsOf(config, demo !== undefined));
  const { enabled, images } = config.console;
  const own = createOwnOrigin({ publicUrl: config.service.public_url, listenHost: config.http.host });
  const { basePath } = serviceNames(config.service.name);
  return [
    consoleRoutes({ assets, enabled, images }),
    ...(enabled && demo ? [demoRoutes({ ...demo, own, basePath })] : []),
  ];
}
