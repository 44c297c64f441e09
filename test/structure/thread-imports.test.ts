import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { OPTIONAL_PARTS } from "../../src/node/optional-parts.ts";

/**
 * The start of the node is mostly the time in which its threads load their code. These modules are large, and a thread that does not need
 * one must not load it before its first use.
 */
const NOT_AT_START: Readonly<Record<string, readonly string[]>> = {
  // Every command begins here.
  "src/main.ts": ["src/api/", "src/node/", "@sinclair/typebox", "elysia", "viem"],
  "src/node/workers/http.worker.ts": [
    "src/node/state/postgres/open-postgres",
    "src/db/index/bulk/stages",
    "viem/_esm/index.js",
    // The tools of agents, until the first request of /mcp.
    "@modelcontextprotocol",
    "src/mcp/server",
    "src/runtime/trace/export-traces",
  ],
  // Before the first connection.
  "src/node/workers/hub.worker.ts": ["@grpc", "src/db/index", "src/protocol", "src/read"],
  "src/node/compose/hub/open-hub.ts": [
    "viem/_esm/index.js",
    "src/node/state/",
    "src/runtime/trace/export-traces",
  ],
  "src/node/workers/ingest.worker.ts": [
    "@sinclair/typebox",
    "src/node/state/postgres/open-postgres",
    "re2js",
  ],
  "src/node/workers/ranking.worker.ts": ["@sinclair/typebox", "@noble/curves", "src/db/index/bulk/stages"],
  "src/node/workers/fan-out.worker.ts": [
    "@sinclair/typebox",
    "src/node/state/postgres/open-postgres",
    "re2js",
  ],
  "src/node/workers/delivery.worker.ts": [
    "@sinclair/typebox",
    "src/node/state/postgres/open-postgres",
    "re2js",
  ],
  "src/node/workers/maintenance.worker.ts": [
    "src/node/state/postgres/open-postgres",
    "@noble/curves",
    "re2js",
  ],
  "src/node/workers/writes.worker.ts": ["@sinclair/typebox", "src/node/state/postgres/open-postgres"],
  "src/node/serve.ts": [
    "src/node/state/postgres/open-postgres",
    "src/db/postgres/migrate",
    "src/console/demo/",
    "src/demo/",
  ],
};

interface Module {
  readonly imports: readonly { readonly path: string; readonly kind: string }[];
}

test("check 4: no thread loads at its start what only some nodes or some requests need", async () => {
  const { metafile } = await Bun.build({
    entrypoints: Object.keys(NOT_AT_START),
    target: "bun",
    // As in the executable: a module that threads share has side effects for all that import one of its kind.
    splitting: true,
    metafile: true,
    define: { BUILD_VERSION: '""', BUILD_COMMIT: '""', BUILD_DATE: '""' },
  });
  const modules: Readonly<Record<string, Module>> = metafile?.inputs ?? {};
  for (const [entry, unwanted] of Object.entries(NOT_AT_START)) {
    const loaded = loadedBy(modules, entry);
    expect(loaded.size).toBeGreaterThan(10);
    const found = [...loaded].filter((path) => unwanted.some((part) => path.includes(part)));
    expect({ entry, found }).toEqual({ entry, found: [] });
  }
}, 180_000);

/** All modules that `entry` imports, except by dynamic imports. */
function loadedBy(modules: Readonly<Record<string, Module>>, entry: string): Set<string> {
  const loaded = new Set([entry]);
  for (const path of loaded) {
    for (const { path: imported, kind } of modules[path]?.imports ?? []) {
      if (kind !== "dynamic-import" && modules[imported]) loaded.add(imported);
    }
  }
  return loaded;
}

test("the modules that a build leaves out exist", () => {
  const entries = Object.values(OPTIONAL_PARTS).flatMap((part): readonly string[] => part.entries);
  expect(entries.filter((entry) => !existsSync(`${import.meta.dir}/../../src/${entry}`))).toEqual([]);
});
