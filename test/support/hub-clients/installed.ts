import { existsSync } from "node:fs";
import { join } from "node:path";

const HERE = import.meta.dir;
const FLAGS = ["--frozen-lockfile", "--ignore-scripts", "--omit=peer", "--omit=optional", "--silent"];

/** Published clients of hubs that are too heavy for the packages of the project. They are installed when first used. */
export async function importHubClient(name: string) {
  const folder = join(HERE, "node_modules", name);
  if (!existsSync(folder)) await install();
  return import(Bun.resolveSync(name, HERE));
}

let installing: Promise<void> | undefined;

function install(): Promise<void> {
  installing ??= (async () => {
    const command = [process.execPath, "install", ...FLAGS];
    const child = Bun.spawn(command, { cwd: HERE, stdout: "ignore", stderr: "pipe" });
    const errors = await new Response(child.stderr).text();
    if ((await child.exited) !== 0)
      throw new Error(`the hub clients of the tests cannot be installed: ${errors}`);
  })();
  return installing;
}
