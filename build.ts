/**
 * Compiles the program into one executable per target: `bun build.ts [target …] [--all] [--outdir <dir>]`.
 * Without a target it builds dist/svc for this machine; with targets it builds dist/svc-<target> for each.
 * The executable includes workers, migrations, default settings, the docs page and the console.
 */
import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import type { BunPlugin } from "bun";
import { name, version } from "./package.json" with { type: "json" };
import { embedPage } from "./src/console/embed.ts";

/** Every platform that the toolchain compiles for. */
const TARGETS = [
  "linux-x64",
  "linux-x64-baseline",
  "linux-x64-musl",
  "linux-x64-musl-baseline",
  "linux-arm64",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
] as const;

type Target = (typeof TARGETS)[number];

/** Each worker is an entry point, because a compiled program loads it by its path. */
const ENTRYPOINTS = [
  "src/main.ts",
  "src/node/workers/starting.worker.ts",
  "src/node/workers/state.worker.ts",
  "src/node/workers/ingest.worker.ts",
  "src/node/workers/http.worker.ts",
  "src/node/workers/hub.worker.ts",
  "src/node/workers/ranking.worker.ts",
  "src/node/workers/writes.worker.ts",
  "src/node/workers/maintenance.worker.ts",
  "src/node/workers/fan-out.worker.ts",
  "src/node/workers/upstream.worker.ts",
  "src/node/workers/verifier.worker.ts",
  "src/node/workers/matching.worker.ts",
  "src/node/workers/delivery.worker.ts",
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { all: { type: "boolean", default: false }, outdir: { type: "string", default: "dist" } },
});
const unknown = positionals.filter((target) => !TARGETS.some((known) => known === target));
if (unknown.length > 0) {
  process.stderr.write(`unknown target: ${unknown.join(", ")}; known are ${TARGETS.join(", ")}\n`);
  process.exit(1);
}
const targets = values.all ? TARGETS : TARGETS.filter((target) => positionals.includes(target));
const define = {
  BUILD_VERSION: JSON.stringify(version),
  BUILD_COMMIT: JSON.stringify(currentCommit()),
  BUILD_DATE: JSON.stringify(new Date().toISOString()),
};

using page = await embedPage();
if (targets.length === 0) await compile(undefined, `${values.outdir}/${name}`, page.plugin);
for (const target of targets) await compile(target, `${values.outdir}/${name}-${target}`, page.plugin);

async function compile(target: Target | undefined, outfile: string, plugin: BunPlugin): Promise<void> {
  // The executable must not load files that happen to be in the working directory.
  const fromWorkingDirectory = { autoloadDotenv: false, autoloadBunfig: false } as const;
  const built = await Bun.build({
    entrypoints: ENTRYPOINTS,
    root: "src/node",
    define,
    plugins: [plugin],
    // Keeps names, so that stack traces are readable.
    minify: { syntax: true, whitespace: true },
    sourcemap: "linked",
    // Half of the start time was parsing. Code that threads share is one chunk, and all code is compiled to bytecode. Code
    // with a top-level `await` compiles to bytecode only as a module.
    format: "esm",
    splitting: true,
    bytecode: true,
    // The types lack some of the targets.
    compile: {
      ...(target ? { target: `bun-${target}` as Bun.Build.CompileTarget } : {}),
      outfile,
      ...fromWorkingDirectory,
    },
  });
  if (!built.success) throw new AggregateError(built.logs, `cannot build ${outfile}`);
  // The executable includes its source maps. The separate files, one for each chunk, are not used.
  for (const { kind, path } of built.outputs) if (kind === "sourcemap") rmSync(path, { force: true });
  const megabytes = (Bun.file(outfile).size / 1e6).toFixed(1);
  process.stdout.write(`${outfile}  ${megabytes} MB\n`);
}

/** The checked out commit, or the one that `SVC_BUILD_COMMIT` names where the sources are no checkout, as in a container. */
function currentCommit(): string {
  if (process.env.SVC_BUILD_COMMIT) return process.env.SVC_BUILD_COMMIT;
  if (Bun.which("git") === null) return "unknown";
  const git = Bun.spawnSync(["git", "rev-parse", "--short=12", "HEAD"], { stderr: "ignore" });
  return git.success ? git.stdout.toString().trim() : "unknown";
}
