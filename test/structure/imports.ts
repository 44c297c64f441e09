import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

const ROOT = join(import.meta.dir, "../..");

export interface Import {
  /** Path of the importing file, from the root of the project. */
  readonly from: string;
  readonly to: string;
  /** True for `import type` and `export type`, which leave nothing at run time. */
  readonly isTypeOnly: boolean;
}

const transpilers = {
  ts: new Bun.Transpiler({ loader: "ts" }),
  tsx: new Bun.Transpiler({ loader: "tsx" }),
};
const SPECIFIER =
  /(?:^|\n)\s*(import|export)\s+(type\s+)?[^;"']*?from\s+"(\.[^"]+)"|import\(\s*"(\.[^"]+)"\s*\)/g;

/** All imports between files of `src`, static and dynamic. Generated files are targets and never sources. */
export async function importsOfSource(): Promise<Import[]> {
  const imports: Import[] = [];
  for await (const file of new Bun.Glob("src/**/*.{ts,tsx}").scan(ROOT)) {
    if (file.includes("/generated/")) continue;
    const source = await Bun.file(join(ROOT, file)).text();
    const transpiler = file.endsWith(".tsx") ? transpilers.tsx : transpilers.ts;
    const runtime = new Set(transpiler.scanImports(source).map(({ path }) => path));
    for (const [, , typeKeyword, from, dynamic] of source.matchAll(SPECIFIER)) {
      const specifier = from ?? dynamic ?? "";
      const to = join(dirname(file), specifier);
      // A generator names files in the text that it writes.
      if (!to.startsWith("src/") || !existsSync(join(ROOT, to))) continue;
      imports.push({ from: file, to, isTypeOnly: typeKeyword !== undefined || !runtime.has(specifier) });
    }
  }
  return imports;
}

/** The room of a file: its first folder below `src`, or its first two below `src/db`. */
export function roomOf(path: string): string {
  const [, first = "", second = ""] = path.split("/");
  return first === "db" ? `${first}/${second}` : first;
}
