/**
 * Builds the client package as npm packs it, by default into `dist/client`: `bun client/build.ts [outdir] [origin]`, where the origin is
 * JSON such as `{"name":"@svc/client","repository":"https://…","bugs":"https://…"}`. The package is one module without platform code, so
 * it runs in Node, Bun, Deno, workers and browsers.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { dependencies, devDependencies, license, version } from "../package.json" with { type: "json" };

const ROOT = join(import.meta.dir, "..");
const outdir = resolve(process.argv[2] ?? join(ROOT, "dist/client"));
const {
  name = "@svc/client",
  repository,
  bugs,
} = JSON.parse(process.argv[3] ?? "{}") as { name?: string; repository?: string; bugs?: string };

rmSync(outdir, { recursive: true, force: true });
mkdirSync(outdir, { recursive: true });
const built = await Bun.build({
  entrypoints: [join(import.meta.dir, "src/index.ts")],
  outdir,
  target: "browser",
  format: "esm",
  external: ["openapi-fetch", "@noble/hashes"],
});
if (!built.success) throw new AggregateError(built.logs, "cannot build the client");
const types = Bun.spawnSync(
  [
    ...[process.execPath, "x", "tsc", "--declaration", "--emitDeclarationOnly", "--noEmit", "false"],
    ...[
      "--target",
      "esnext",
      "--module",
      "preserve",
      "--moduleResolution",
      "bundler",
      "--strict",
      "--skipLibCheck",
    ],
    ...[
      "--allowImportingTsExtensions",
      "--rewriteRelativeImportExtensions",
      "--lib",
      "esnext,dom,dom.iterable,dom.asynciterable",
    ],
    ...["--ignoreConfig", "--types", "", "--outDir", join(outdir, "types"), "client/src/index.ts"],
  ],
  { cwd: ROOT, stdout: "pipe" },
);
if (!types.success) throw new Error(`cannot write the types: ${types.stdout.toString()}`);
const manifest = {
  name,
  version,
  description: "A typed client of svc nodes: reads, signed operations, deliveries, the stream of events",
  license,
  ...(repository && { repository: { type: "git", url: `git+${repository}.git` } }),
  ...(bugs && { bugs: { url: bugs } }),
  type: "module",
  exports: { ".": { types: "./types/index.d.ts", default: "./index.js" } },
  files: ["index.js", "types"],
  sideEffects: false,
  engines: { node: ">=20.3" },
  dependencies: {
    "@noble/hashes": dependencies["@noble/hashes"],
    "openapi-fetch": devDependencies["openapi-fetch"],
  },
};
await Bun.write(join(outdir, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
await Bun.write(join(outdir, "LICENSE"), Bun.file(join(ROOT, "LICENSE")));
