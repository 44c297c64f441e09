import { describe, expect, test } from "bun:test";
import { readdirSync, symlinkSync } from "node:fs";
import type { Command } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { KEY_VARIABLE } from "../../src/cli/client/key-files.ts";
import { createProgram } from "../../src/cli/program.ts";
import { examplesOf } from "../../src/cli/shell/examples.ts";
import { compiledFile } from "../support/compiled-program.ts";
import { fromSources, startNode } from "../support/program.ts";
import { emptyDir, run } from "./run.ts";

const BROKEN = { SVC_HTTP_PORT: "no port", SVC_CONFIG_FILE: "/nowhere.toml" };

test.each([
  [["--help"]],
  [["-h"]],
  [["help"]],
  [["serve", "--help"]],
  [["config", "--help"]],
  [["healthcheck", "-h"]],
])("%j exits with 0 and starts nothing, even with broken settings", async (args) => {
  using dir = emptyDir();
  const { exitCode, out, errors } = await run(args, { cwd: dir.path, env: BROKEN });
  expect({ exitCode, errors }).toEqual({ exitCode: 0, errors: "" });
  expect(out).toStartWith("Usage: ");
  expect(out).toContain("--config");
  expect(readdirSync(dir.path)).toEqual([]);
});

describe("started by another name", () => {
  /** Runs a link to the program. */
  async function runRenamed(args: readonly string[]) {
    using dir = emptyDir();
    const name = `${dir.path}/farcaster`;
    symlinkSync(compiledFile, name);
    return { name, ...(await run(args, { command: [name] })) };
  }

  test.each([[["--help"]], [["serve", "--help"]], [["state", "copy", "--help"]]])(
    "%j names it in the usage and the examples",
    async (args) => {
      const { name, out } = await runRenamed(args);
      expect(out).toStartWith(`Usage: ${[name, ...args.slice(0, -1)].join(" ")} `);
      expect(out).not.toMatch(/(?<![\w./-])svc (?!\d)[a-z-]/);
    },
  );

  test("the usage on standard error has the same name, and the version keeps the program's own", async () => {
    const { name, errors } = await runRenamed(["config"]);
    expect(errors).toStartWith(`Usage: ${name} config [options] [command]`);
    expect((await runRenamed(["-V"])).out).toStartWith(`${packageJson.name} `);
  });

  test("a line of the log names the command that it advises", async () => {
    using dir = emptyDir();
    const name = `${dir.path}/farcaster`;
    symlinkSync(compiledFile, name);
    await using node = await startNode({
      command: [name],
      dataDir: `${dir.path}/data`,
      args: ["--set", "index.max_bytes=1000"],
    });
    expect(node.logs()).toContain(`\`${name} upstream estimate\``);
  });
});

test("version and --version print the build and need no valid settings", async () => {
  const text = await run(["version"], { env: BROKEN });
  expect(text).toMatchObject({ exitCode: 0, errors: "" });
  const built = {
    version: packageJson.version,
    commit: expect.stringMatching(/^[0-9a-f]{12}$|^unknown$/),
    built: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    bun: Bun.version,
    platform: `${process.platform}-${process.arch}`,
  };
  const json = JSON.parse((await run(["version", "--json"])).out);
  expect(json).toEqual(built);
  expect(text.out).toStartWith(`${packageJson.name} ${packageJson.version}\ncommit   ${json.commit}\n`);
  const { stdout } = Bun.spawnSync([...fromSources, "version", "--json"]);
  expect(JSON.parse(stdout.toString())).toEqual({ ...built, commit: "dev", built: "dev" });
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

test("prints the help and serves nothing without a command", async () => {
  using dir = emptyDir();
  const { exitCode, out, errors } = await run([], { cwd: dir.path });
  expect({ exitCode, out }).toEqual({ exitCode: 1, out: "" });
  expect(errors).toStartWith("Usage: ");
  expect(errors).toContain("\n  serve ");
  expect(readdirSync(dir.path)).toEqual([]);
});

test.each([
  [["serv"], "serve"],
  [["webhok"], "webhook"],
  [["config", "prnt"], "print"],
  [["serve", "--dem"], "--demo"],
])("%j suggests the intended spelling", async (args, meant) => {
  const { exitCode, errors } = await run(args);
  expect(exitCode).toBe(1);
  expect(errors).toContain(`(Did you mean ${meant}?)`);
});

test("a command that does not serve logs its result, and its start and stop at debug level only", async () => {
  using dir = emptyDir();
  const args = ["migrate", "--data-dir", `${dir.path}/data`];
  expect(await run(args)).toMatchObject({ exitCode: 0, errors: "" });
  expect((await run([...args, "--log-level", "debug"])).errors).toContain("Shut down");
});

describe("the help", () => {
  /** Every command by its path. */
  function commands(): { readonly path: string; readonly command: Command }[] {
    const all = (command: Command, path: readonly string[]): ReturnType<typeof commands> => [
      { path: path.join(" "), command },
      ...command.commands.flatMap((child) => all(child, [...path, child.name()])),
    ];
    return all(createProgram().program, []);
  }

  test("of every command has examples, and that of the program names the environment variables", () => {
    for (const { path, command } of commands()) {
      let help = "";
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      expect([path, help.includes("\nExamples:\n  svc ")]).toEqual([path, true]);
      if (path !== "") continue;
      for (const name of ["SVC_<SECTION>_<KEY>_FILE", "SVC_CONFIG_FILE", KEY_VARIABLE, "SVC_HTTP_PORT"])
        expect(help).toContain(name);
    }
  });

  test("lists every command under a heading, and the global options only once", () => {
    const helpOf = (command: Command) => {
      let help = "";
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      return help;
    };
    const { program } = createProgram();
    const headings = helpOf(program).match(/^[A-Z][\w ,]+:$/gm);
    expect(headings).toEqual([
      "Options:",
      "Run a node:",
      "Data of a node:",
      "State of a node, or of nodes that share it:",
      "Signed calls to any node:",
      "Develop an app:",
      "This program:",
      "Examples:",
      "Environment:",
    ]);
    for (const { path, command } of commands())
      if (path !== "") expect(helpOf(command).match(/--log-format/g) ?? []).toEqual([]);
  });

  test("shows command lines that parse as their command", async () => {
    for (const { path } of commands()) {
      for (const example of examplesOf(path)) {
        const { program } = createProgram();
        let ran: string | undefined;
        const stub = (command: Command, at: readonly string[]) => {
          // `nodes` runs by itself and has subcommands.
          if (command.commands.length === 0 || command.name() === "nodes")
            command.action(() => {
              ran = at.join(" ");
            });
          command.configureOutput({ writeErr: () => undefined });
          for (const child of command.commands) stub(child, [...at, child.name()]);
        };
        stub(program, []);
        const [line = ""] = example.split(/ [>|] /);
        const fault = await program.parseAsync(line.split(" "), { from: "user" }).catch((thrown) => thrown);
        expect([example, fault instanceof Error ? fault.message : "understood"]).toEqual([
          example,
          "understood",
        ]);
        expect(`${ran} `).toStartWith(path === "" ? "" : `${path} `);
      }
    }
  });
});
