import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import type { BunPlugin } from "bun";
import type { Language } from "./web/page-settings.ts";
import { ASSET_PATH, type WebFile, webFile } from "./web-build.ts";

/** The language of the sources. */
export const SOURCE = "en";

/** The scripts of one entry point. */
export interface ScriptBundle {
  /** The name of the entry point's script. */
  readonly entry: string;
  readonly files: readonly WebFile[];
  /** The packages that they contain. */
  readonly packages: readonly string[];
  /** Returns the names of the scripts that a lazily loaded module needs, except the entry point's. */
  scriptsOf(source: string): readonly string[];
}

interface ScriptSources {
  /** The directory of the sources. */
  readonly root: string;
  readonly entry: string;
  /** Lazily loaded modules of pages that are often opened first: the code that they share with others is in the entry point's script. */
  readonly firstPages: readonly string[];
  /** Default: the language of the sources. */
  readonly language?: Language;
}

type Metafile = NonNullable<Bun.BuildOutput["metafile"]>;

/**
 * Bundles an entry point. Its lazily loaded modules become separate chunks. By default the bundler makes a chunk for each set of pages
 * that share a module, so a first page would need a dozen of them. The entry point therefore imports the modules of the first pages.
 * @throws AggregateError with the errors in the sources
 */
export async function bundleScripts(sources: ScriptSources): Promise<ScriptBundle> {
  const { root, entry, firstPages, language = SOURCE } = sources;
  const plugins = language === SOURCE ? [] : [inLanguage(language)];
  const graph = await build(root, entry, plugins);
  const shared = new Set<string>();
  for (const page of firstPages)
    addImports(graph.metafile, inputOf(graph.metafile, join(root, page)), shared);
  const { outputs, metafile } =
    shared.size === 0
      ? graph
      : await build(root, entry, [...plugins, importing(join(root, entry), [...shared])]);

  const files = await Promise.all(
    outputs.map(async (output) => webFile(basename(output.path), await output.text())),
  );
  const nameOf = (source: string) => {
    const isOf = (path: string | undefined) => path !== undefined && absolute(path) === join(root, source);
    const [path] = Object.entries(metafile.outputs).find(([, { entryPoint }]) => isOf(entryPoint)) ?? [];
    if (path === undefined) throw new Error(`there is no script for ${source}`);
    return basename(path);
  };
  const entryName = nameOf(entry);
  const importsOf = (name: string) =>
    Object.entries(metafile.outputs)
      .filter(([path]) => basename(path) === name)
      .flatMap(([, { imports }]) => imports)
      .filter(({ kind }) => kind === "import-statement")
      .map(({ path }) => basename(path));
  const withImports = (name: string, found: string[] = []): string[] => {
    if (name === entryName || found.includes(name)) return found;
    found.push(name);
    for (const next of importsOf(name)) withImports(next, found);
    return found;
  };
  const packages = Object.keys(metafile.inputs).flatMap(
    (path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
  );
  return { entry: entryName, files, packages, scriptsOf: (source) => withImports(nameOf(source)) };
}

async function build(root: string, entry: string, plugins: BunPlugin[]) {
  const built = await Bun.build({
    entrypoints: [join(root, entry)],
    root,
    target: "browser",
    format: "esm",
    minify: true,
    splitting: true,
    publicPath: ASSET_PATH,
    naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' },
    metafile: true,
    plugins,
    throw: false,
  });
  if (!built.success || !built.metafile) throw new AggregateError(built.logs, `cannot bundle ${entry}`);
  return { outputs: built.outputs, metafile: built.metafile };
}

/** Adds imports of more modules to the end of an entry point. */
function importing(entry: string, modules: readonly string[]): BunPlugin {
  const statements = modules.map((path) => `\nimport ${JSON.stringify(path)};`).join("");
  return {
    name: "shared-modules",
    setup(builder) {
      builder.onLoad({ filter: new RegExp(`^${RegExp.escape(entry)}$`) }, async ({ path }) => ({
        contents: (await Bun.file(path).text()) + statements,
        loader: "tsx",
      }));
    },
  };
}

/** Paths in a metafile are relative to the working directory. */
const absolute = (path: string) => join(process.cwd(), path);

function inputOf({ inputs }: Metafile, source: string): string {
  const found = Object.keys(inputs).find((path) => absolute(path) === source);
  if (found === undefined) throw new Error(`${source} is not in the bundle`);
  return found;
}

/** Adds the project's modules that a module imports, except itself. */
function addImports(metafile: Metafile, module: string, found: Set<string>): void {
  const { inputs } = metafile;
  for (const { kind, path } of inputs[module]?.imports ?? []) {
    if (kind !== "import-statement" || !inputs[path] || path.includes("node_modules")) continue;
    if (found.has(absolute(path))) continue;
    found.add(absolute(path));
    addImports(metafile, path, found);
  }
}

/** Replaces the texts by those of another language, file by file. A missing file stays English. */
function inLanguage(language: Language): BunPlugin {
  return {
    name: "language",
    setup(builder) {
      builder.onResolve({ filter: /\/text\/en\// }, ({ path, importer }) => {
        const source = join(importer, "..", path);
        const other = source.replace("/text/en/", `/text/${language}/`);
        return { path: existsSync(other) ? other : source };
      });
    },
  };
}
