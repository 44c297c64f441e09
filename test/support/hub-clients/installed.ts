import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

const HERE = import.meta.dir;
/** A folder that did not exist when this process started: Bun remembers which folders have no packages. */
const FOLDER = join(HERE, "node_modules", "hub-clients");
const FLAGS = ["--frozen-lockfile", "--ignore-scripts", "--omit=peer", "--omit=optional", "--silent"];

/** Published clients of hubs that are too heavy for the packages of the project. They are installed when first used. */
export async function importHubClient(name: string) {
  if (!existsSync(join(FOLDER, "node_modules", name))) await install();
  return import(Bun.resolveSync(name, FOLDER));
}

let installing: Promise<void> | undefined;

function install(): Promise<void> {
  installing ??= (async () => {
    mkdirSync(FOLDER, { recursive: true });
    for (const file of ["package.json", "bun.lock"]) copyFileSync(join(HERE, file), join(FOLDER, file));
    const command = [process.execPath, "install", ...FLAGS];
    const child = Bun.spawn(command, { cwd: FOLDER, stdout: "ignore", stderr: "pipe" });
    const errors = await new Response(child.stderr).text();
    if ((await child.exited) !== 0)
      throw new Error(`the hub clients of the tests cannot be installed: ${errors}`);
  })();
  return installing;
}
