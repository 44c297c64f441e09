import { existsSync } from "node:fs";
import { join } from "node:path";
import { installPackages } from "../install-packages.ts";

const HERE = import.meta.dir;
/** A folder that did not exist when this process started: Bun remembers which folders have no packages. */
const FOLDER = join(HERE, "node_modules", "hub-clients");

/** Published clients of hubs that are too heavy for the packages of the project. They are installed when first used. */
export async function importHubClient(name: string) {
  if (!existsSync(join(FOLDER, "node_modules", name))) await install(name);
  return import(Bun.resolveSync(name, FOLDER));
}

let installing: Promise<void> | undefined;

function install(name: string): Promise<void> {
  installing ??= (async () => {
    const flags = ["--omit=peer", "--omit=optional"];
    const failure = await installPackages({ manifest: HERE, into: FOLDER, name, flags });
    if (failure !== undefined)
      throw new Error(`the hub clients of the tests cannot be installed: ${failure}`);
  })();
  return installing;
}
