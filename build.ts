/**
 * Compiles the program into one executable per target: `bun build.ts [target …] [--all] [--outdir <dir>]`.
 * Without a target it builds for this machine, into dist/svc; with targets into dist/svc-<target>.
 * Everything that runs is inside: workers, migrations, default settings, the docs page.
 */
import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { name, version } from "./package.json" with { type: "json" };

/** Every platform that the toolchain compiles for. */
const TARGETS = [
  "linux-x64",
  "linux-x64-baseline",
  "linux-x64-musl",
  "linux-arm64",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
] as const;

type Target = (typeof TARGETS)[number];

/** Each worker is an entry of its own: a compiled program loads it by its path. */
const ENTRYPOINTS = [
  "src/main.ts",
  "src/node/workers/state.worker.ts",
  "src/node/workers/ingest.worker.ts",
  "src/node/workers/http.worker.ts",
  "src/node/workers/hub.worker.ts",
  "src/node/workers/ranking.worker.ts",
  "src/node/workers/maintenance.worker.ts",
  "src/node/workers/fan-out.worker.ts",
  "src/node/workers/upstream.worker.ts",
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

if (targets.length === 0) await compile(undefined, `${values.outdir}/${name}`);
for (const target of targets) await compile(target, `${values.outdir}/${name}-${target}`);

async function compile(target: Target | undefined, outfile: string): Promise<void> {
  // Settings come from the documented places, not from files that happen to be in the working directory.
  const fromWorkingDirectory = { autoloadDotenv: false, autoloadBunfig: false } as const;
  const built = await Bun.build({
    entrypoints: ENTRYPOINTS,
    root: "src/node",
    define,
    // Names stay, so that a stack trace can be read.
    minify: { syntax: true, whitespace: true },
    sourcemap: "linked",
    // Half of the start was parsing: what the threads share is one chunk, and all of it is compiled here. Code that is
    // compiled ahead and holds `await` at its top level has to be said to be a module.
    format: "esm",
    splitting: true,
    bytecode: true,
    compile: { ...(target ? { target: `bun-${target}` } : {}), outfile, ...fromWorkingDirectory },
  });
  if (!built.success) throw new AggregateError(built.logs, `cannot build ${outfile}`);
  // The executable holds its source maps; those beside it, one for each chunk, serve nobody.
  for (const { kind, path } of built.outputs) if (kind === "sourcemap") rmSync(path, { force: true });
  const megabytes = (Bun.file(outfile).size / 1e6).toFixed(1);
  process.stdout.write(`${outfile}  ${megabytes} MB\n`);
}

function currentCommit(): string {
  const git = Bun.spawnSync(["git", "rev-parse", "--short=12", "HEAD"], { stderr: "ignore" });
  return git.success ? git.stdout.toString().trim() : "unknown";
}
