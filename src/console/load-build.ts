import { gzipFile, type WebBuild } from "./web-build.ts";

/** Returns the page, bundled from its sources. The compiled program has another file in place of this one (`embed.ts`). */
export async function loadBuild(): Promise<WebBuild> {
  const { bundleWeb } = await import("./bundle.ts");
  const { assets, ...rest } = await bundleWeb();
  return { ...rest, assets: assets.map(gzipFile) };
}
