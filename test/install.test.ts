import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../package.json" with { type: "json" };

const ROOT = join(import.meta.dir, "..");
const INSTALL_SCRIPTS = ["preinstall", "install", "postinstall"];

/** Directories of the installed packages that bring a script for their installation. */
function packagesWithScripts(): string[] {
  const manifests = [...new Bun.Glob("node_modules/**/package.json").scanSync({ cwd: ROOT })];
  const paths = manifests.filter((path) => /node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(path));
  const found = paths.filter((path) => {
    const { scripts = {} } = JSON.parse(readFileSync(join(ROOT, path), "utf8"));
    return INSTALL_SCRIPTS.some((name) => name in scripts);
  });
  return found.map((path) => path.replace(/\/package\.json$/, "")).sort();
}

test("an install runs no script of any package: Bun holds back all of them, also of those that it trusts by default", () => {
  const listed = Bun.spawnSync([process.execPath, "pm", "untrusted"], { cwd: ROOT }).stdout.toString();
  const heldBack = [...listed.matchAll(/^\.\/(\S+) @\S+$/gm)].map(([, path]) => path ?? "");
  expect(heldBack.sort()).toEqual(packagesWithScripts());
  // The telemetry of one that `run start` needs: without it, nothing would be tested here.
  expect(heldBack).toContain("node_modules/@scarf/scarf");
});

test("`run start` installs what serving needs, as it is locked, and no tools of the tests", () => {
  const [install = ""] = packageJson.scripts.start.split(" && ");
  const isQuiet = ["--no-summary", "--no-progress"];
  expect(install.split(" ")).toEqual(["bun", "install", "--frozen-lockfile", "--production", ...isQuiet]);
});
