import { serialize } from "bun:jsc";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BunPlugin } from "bun";
import { bundleWeb } from "./bundle.ts";
import { compressFile } from "./compress.ts";
import type { WebBuild } from "./web-build.ts";

/** The page as a file that the executable includes. */
export interface EmbeddedPage extends Disposable {
  /** Replaces the loader of the sources by one that reads the file. */
  readonly plugin: BunPlugin;
}

const BEST_QUALITY = 11;
const LOADER = /[/\\]src[/\\]console[/\\]load-build\.ts$/;

/** Bundles and compresses the page for the compiled program. */
export async function embedPage(): Promise<EmbeddedPage> {
  const { assets, ...rest } = await bundleWeb();
  const build: WebBuild = { ...rest, assets: assets.map((file) => compressFile(file, BEST_QUALITY)) };
  const dir = mkdtempSync(join(tmpdir(), "svc-page-"));
  const path = join(dir, "page.bin");
  writeFileSync(path, serialize(build, { binaryType: "nodebuffer" }));
  const loader = `
    import { deserialize } from "bun:jsc";
    import path from ${JSON.stringify(path)} with { type: "file" };
    export const loadBuild = async () => deserialize(await Bun.file(path).arrayBuffer());
  `;
  return {
    plugin: {
      name: "embedded-page",
      setup: (builder) =>
        builder.onLoad({ filter: LOADER }, () => ({ contents: loader, loader: "js" })) as never,
    },
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  };
}
