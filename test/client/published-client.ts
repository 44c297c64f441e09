import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../support/documents.ts";

/** The scenario as one module; with `client`, it imports the client by that name. */
export async function bundledScenario(target: "node" | "browser", client?: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, "scenario.ts")],
    target,
    plugins: [
      {
        name: "the published package",
        setup(build) {
          if (client === undefined) return;
          build.onResolve({ filter: /client\/src\/index\.ts$/ }, () => ({ path: client, external: true }));
        },
      },
    ],
  });
  return (await outputs[0]?.text()) ?? "";
}

/** Runs the scenario with the package that is published, in a folder of its own. Returns what it printed, and its errors. */
export async function runPublished(
  folder: string,
  command: readonly string[],
  { url, custody }: { readonly url: string; readonly custody: string },
): Promise<{ readonly out: string; readonly errors: string }> {
  const packageDir = join(folder, "node_modules/@svc/client");
  const built = Bun.spawnSync([process.execPath, "client/build.ts", packageDir], {
    cwd: ROOT,
    stderr: "pipe",
  });
  if (built.exitCode !== 0) throw new Error(built.stderr.toString());
  mkdirSync(join(packageDir, "node_modules/@noble"), { recursive: true });
  for (const name of ["openapi-fetch", "@noble/hashes"])
    symlinkSync(join(ROOT, "node_modules", name), join(packageDir, "node_modules", name));
  // The scenario with everything but the client, which it imports by the name of the package.
  await Bun.write(join(folder, "scenario.mjs"), await bundledScenario("node", "@svc/client"));
  await Bun.write(
    join(folder, "run.mjs"),
    `import process from "node:process";
import { runScenario } from "./scenario.mjs";
console.log(JSON.stringify(await runScenario(${JSON.stringify(url)}, ${JSON.stringify(custody)})));
process.exit(0);`,
  );
  const child = Bun.spawn([...command, join(folder, "run.mjs")], {
    cwd: folder,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { out, errors };
}
