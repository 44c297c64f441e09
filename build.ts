/**
 * Compiles the program into one executable per target: `bun build.ts [target …] [--all] [--outdir <dir>] [--without <part>,…]`. Without a
 * target it builds dist/svc for this machine, otherwise dist/svc-<target> for each target. The executable includes workers, migrations,
 * default settings, the docs page and the console.
 */
import { existsSync, rmSync } from "node:fs";
import { parseArgs } from "node:util";
import type { BunPlugin } from "bun";
import { name, version } from "./package.json" with { type: "json" };
import { embedPage } from "./src/console/bundle.ts";
import { OPTIONAL_PARTS } from "./src/node/optional-parts.ts";

/** All platforms that the toolchain can compile for. */
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

/** Each worker is an entry point because a compiled program loads it by its path. */
const ENTRYPOINTS = [
  "src/main.ts",
  ...new Bun.Glob("src/node/workers/*.worker.ts").scanSync(import.meta.dir),
];

const PARTS: Readonly<
  Record<string, { entries: readonly string[]; threads?: readonly string[]; neededBy?: readonly string[] }>
> = OPTIONAL_PARTS;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: "boolean", default: false },
    outdir: { type: "string", default: "dist" },
    without: { type: "string", default: "" },
  },
});
const unknown = positionals.filter((target) => !TARGETS.some((known) => known === target));
if (unknown.length > 0) fail(`unknown target: ${unknown.join(", ")}; known are ${TARGETS.join(", ")}`);
const without = [...new Set(values.without.split(",").filter((part) => part !== ""))];
for (const part of without) {
  const { neededBy = [] } =
    PARTS[part] ?? fail(`unknown part: ${part}; known are ${Object.keys(PARTS).join(", ")}`);
  const broken = neededBy.filter((other) => !without.includes(other));
  if (broken.length > 0) fail(`${broken.join(", ")} cannot do without ${part}: leave it out, too`);
}
const targets = values.all ? TARGETS : TARGETS.filter((target) => positionals.includes(target));
const define = {
  BUILD_VERSION: JSON.stringify(version),
  BUILD_COMMIT: JSON.stringify(currentCommit()),
  BUILD_DATE: JSON.stringify(new Date().toISOString()),
  ...(without.length > 0 && { BUILD_WITHOUT: JSON.stringify(without.join(",")) }),
};

const threadsLeftOut = without.flatMap((part) => PARTS[part]?.threads ?? []);
using page = without.includes("console") ? undefined : await embedPage();
const plugins = [
  embeddingFiles(),
  ...(page ? [page.plugin] : []),
  leavingOut(without.flatMap((part) => PARTS[part]?.entries ?? [])),
];
if (targets.length === 0) await compile(undefined, `${values.outdir}/${name}`);
for (const target of targets) await compile(target, `${values.outdir}/${name}-${target}`);

/**
 * Replaces modules that read files with their exports, so that the executable needs no other files. Macros would do the same, but a process
 * that ends while it runs one leaves a broken module in Bun's cache, and no later start from the sources works.
 */
function embeddingFiles(): BunPlugin {
  return {
    name: "embedded files",
    setup(builder) {
      builder.onLoad({ filter: /\.embedded\.ts$/ }, async ({ path }) => {
        const exported = Object.entries(await import(path));
        const lines = exported.map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`);
        return { contents: lines.join("\n"), loader: "js" };
      });
    },
  };
}

/** Replaces the exports of modules with undefined, or with empty lists for operations. */
function leavingOut(entries: readonly string[]): BunPlugin {
  const files = new Set(entries.map((entry) => `${import.meta.dir}/src/${entry}`));
  for (const file of files) if (!existsSync(file)) fail(`there is no ${file}`);
  return {
    name: "left-out parts",
    setup: (builder) =>
      builder.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (!files.has(path)) return undefined;
        const exported = (await Bun.file(path).text()).matchAll(
          /^export (?:async )?(?:function|const|class) (\w+)/gm,
        );
        const contents = [...exported].map(
          ([, name = ""]) => `export const ${name} = ${name.endsWith("Operations") ? "[]" : "undefined"};`,
        );
        return { contents: contents.join("\n"), loader: "js" };
      }) as never,
  };
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

async function compile(target: Target | undefined, outfile: string): Promise<void> {
  // The executable must not load files that happen to be in the working directory.
  const fromWorkingDirectory = { autoloadDotenv: false, autoloadBunfig: false } as const;
  const built = await Bun.build({
    entrypoints: ENTRYPOINTS.filter(
      (file) => !threadsLeftOut.some((thread) => file.endsWith(`/${thread}.worker.ts`)),
    ),
    root: "src/node",
    define,
    plugins,
    // Keeps names, so that stack traces stay readable.
    minify: { syntax: true, whitespace: true },
    sourcemap: "linked",
    // Half of the start time was spent on parsing, so all code is compiled to bytecode, and code that threads share is in one chunk. Code
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
  // The executable contains its source maps, so the separate files, one per chunk, are not needed.
  for (const { kind, path } of built.outputs) if (kind === "sourcemap") rmSync(path, { force: true });
  const megabytes = (Bun.file(outfile).size / 1e6).toFixed(1);
  process.stdout.write(`${outfile}  ${megabytes} MB\n`);
}

/** Returns the checked-out commit, or the one in `SVC_BUILD_COMMIT` if the sources are not a checkout, such as in a container. */
function currentCommit(): string {
  if (process.env.SVC_BUILD_COMMIT) return process.env.SVC_BUILD_COMMIT;
  if (Bun.which("git") === null) return "unknown";
  const git = Bun.spawnSync(["git", "rev-parse", "--short=12", "HEAD"], { stderr: "ignore" });
  return git.success ? git.stdout.toString().trim() : "unknown";
}
