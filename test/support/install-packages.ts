import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

export interface PackagesToInstall {
  /** The folder of package.json and bun.lock. */
  readonly manifest: string;
  /** Where they are installed: this folder gets a `node_modules`. */
  readonly into: string;
  /** A package that shows that the others are there. */
  readonly name: string;
  readonly flags?: readonly string[];
}

const FLAGS = ["--frozen-lockfile", "--ignore-scripts", "--silent"];

/**
 * Installs packages that are too heavy for the packages of the project. It installs aside and renames, because several test processes
 * may do it at once. Returns why it failed.
 */
export async function installPackages(packages: PackagesToInstall): Promise<string | undefined> {
  const { manifest, into, name, flags = [] } = packages;
  const modules = join(into, "node_modules");
  mkdirSync(into, { recursive: true });
  const aside = mkdtempSync(`${modules}.`);
  try {
    for (const file of ["package.json", "bun.lock"]) cpSync(join(manifest, file), join(aside, file));
    const command = [process.execPath, "install", ...FLAGS, ...flags];
    const child = Bun.spawn(command, { cwd: aside, stdout: "ignore", stderr: "pipe" });
    const errors = await new Response(child.stderr).text();
    // An optional dependency that cannot be downloaded is not an error of `bun install`.
    if ((await child.exited) !== 0 || !existsSync(join(aside, "node_modules", name)))
      return errors.trim().split("\n").at(-1) || "it cannot be downloaded";
    if (!existsSync(join(modules, name))) {
      rmSync(modules, { recursive: true, force: true });
      renameSync(join(aside, "node_modules"), modules);
    }
    return undefined;
  } catch (cause) {
    return String(cause);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}
