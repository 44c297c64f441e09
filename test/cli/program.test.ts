import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import packageJson from "../../package.json" with { type: "json" };
import { emptyDir, run } from "./run.ts";

const BROKEN = { SVC_HTTP_PORT: "no port", SVC_CONFIG_FILE: "/nowhere.toml" };

test.each([
  [["--help"]],
  [["-h"]],
  [["help"]],
  [["serve", "--help"]],
  [["config", "--help"]],
  [["healthcheck", "-h"]],
])("%j answers with 0 and boots nothing, even where the settings are broken", async (args) => {
  using dir = emptyDir();
  const { exitCode, out, errors } = await run(args, { cwd: dir.path, env: BROKEN });
  expect({ exitCode, errors }).toEqual({ exitCode: 0, errors: "" });
  expect(out).toStartWith("Usage: ");
  expect(out).toContain("--config <file>");
  expect(readdirSync(dir.path)).toEqual([]);
});

test("version and --version tell the build and need no valid settings", async () => {
  const text = await run(["version"], { env: BROKEN });
  expect(text).toMatchObject({ exitCode: 0, errors: "" });
  expect(text.out).toStartWith(`${packageJson.name} ${packageJson.version}\ncommit   dev\n`);
  expect(JSON.parse((await run(["version", "--json"])).out)).toEqual({
    version: packageJson.version,
    commit: "dev",
    built: "dev",
    bun: Bun.version,
    platform: `${process.platform}-${process.arch}`,
  });
  expect(await run(["-V"])).toEqual({
    exitCode: 0,
    out: `${packageJson.name} ${packageJson.version}\n`,
    errors: "",
  });
});

test.each([
  [["nope"]],
  [["config", "nope"]],
  [["--nope"]],
  [["version", "--nope"]],
  [["config"]],
  [["--port"]],
  [["version", "too", "many"]],
])("the command line %j is not understood: usage error on standard error, exit code 1", async (args) => {
  using dir = emptyDir();
  const { exitCode, out, errors } = await run(args, { cwd: dir.path });
  expect({ exitCode, out }).toEqual({ exitCode: 1, out: "" });
  expect(errors.length).toBeGreaterThan(10);
  expect(errors).not.toContain("    at ");
  expect(readdirSync(dir.path)).toEqual([]);
});

test("without a command it serves: broken settings stop it before anything is made, with exit code 1", async () => {
  using dir = emptyDir();
  const { exitCode, out, errors } = await run([], {
    cwd: dir.path,
    env: { SVC_HTTP_PORT: "x", SVC_LOG_LEVEL: "y" },
  });
  expect({ exitCode, out }).toEqual({ exitCode: 1, out: "" });
  expect(errors).toStartWith("error: 2 settings are wrong:\n");
  expect(readdirSync(dir.path)).toEqual([]);
});
