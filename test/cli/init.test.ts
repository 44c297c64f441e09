import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { followedNodeText, partText, wholeNetworkText } from "../../src/cli/doctor/costs.ts";
import { followedFids } from "../../src/config/files/fid-file.ts";
import { readSmallFile } from "../../src/config/files/small-file.ts";
import { loadConfig } from "../../src/config/load.ts";
import { compiledFile, compiledProgram } from "../support/compiled-program.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { type RunningNode, startNode } from "../support/program.ts";
import { makeChain } from "../support/upstream/chain.ts";
import { UpstreamNode } from "../support/upstream/node.ts";
import { UpstreamServer } from "../support/upstream/server.ts";
import { emptyDir, run } from "./run.ts";

const TICKS = 25;
const node = new UpstreamNode(makeChain("init1", TICKS));
const server = new UpstreamServer(node);

beforeAll(async () => {
  node.produce(TICKS);
  await server.start();
});
afterAll(() => server.stop());

const settingsOf = (file: string) =>
  loadConfig({ argvFlags: { config: file }, env: {}, readFile: readSmallFile, cwd: "/" }).config;

describe("svc init by flags", () => {
  test("of a demo writes settings that every user can read: a node is not ready before `serve --demo`, then serves it as any other", async () => {
    using dir = emptyDir();
    const ended = await run(["init", "--demo"], { cwd: dir.path });
    expect(ended).toMatchObject({ exitCode: 0, errors: "" });
    expect(ended.out).toEndWith(`Next:\n  ${compiledFile} doctor\n  ${compiledFile} serve --demo\n`);
    const file = join(dir.path, "svc.toml");
    expect(statSync(file).mode & 0o777).toBe(0o644);
    const options = { command: compiledProgram, dataDir: join(dir.path, "data"), args: ["--config", file] };
    const responses = async ({ url }: RunningNode) => {
      const of = async (path: string) => (await fetch(url + path)).status;
      return [await of("/ready"), await of("/v2/svc/user?fid=3")];
    };
    for (const [start, expected] of [
      [startNode, [503, 404]],
      [startDemoNode, [200, 200]],
      [startNode, [200, 200]],
    ] as const) {
      await using node = await start(options);
      expect(await responses(node)).toEqual([...expected]);
    }
  }, 180_000);

  test("of followers writes their list next to the settings, and the node follows them", async () => {
    using dir = emptyDir();
    const flags = ["--followers-of", "7", "--upstream", server.url, "--data-dir", `${dir.path}/data`];
    // The script signs no blocks.
    flags.push("--set", "trust.level=node");
    const ended = await run(["init", ...flags, "--json"], { cwd: dir.path });
    expect(ended).toMatchObject({ exitCode: 0, errors: "" });
    const said = JSON.parse(ended.out);
    expect(said.files).toEqual([`${dir.path}/svc.toml`, `${dir.path}/svc.fids`]);
    expect(said.estimate.messages).toBeGreaterThan(0);
    const config = settingsOf(`${dir.path}/svc.toml`);
    expect(config.upstream.fid_file).toBe(`${dir.path}/svc.fids`);
    expect(followedFids(config.upstream)?.size).toBe(said.follows);
    expect(readFileSync(config.upstream.fid_file, "utf8")).toStartWith(`# Fid 7 and its one follower`);
    await using started = await startNode({
      command: compiledProgram,
      dataDir: `${dir.path}/data`,
      args: ["--config", `${dir.path}/svc.toml`],
    });
    // The list is the node's scope once its fids have been read.
    while ((await fetch(`${started.url}/v2/svc/user?fid=7`)).status !== 200) await Bun.sleep(20);
  }, 180_000);

  test("says what the whole network costs, and writes other settings that are named", async () => {
    using dir = emptyDir();
    const flags = ["--all", "--upstream", server.url, "--public", "--set", "service.name=mine"];
    const ended = await run(["init", ...flags], { cwd: dir.path });
    expect(ended.exitCode).toBe(0);
    const costs = ["messages of", "index: ", "time: about", "memory: up to", "free: "];
    for (const cost of [...costs, wholeNetworkText(), partText(), followedNodeText()])
      expect(ended.out).toContain(cost);
    const { service, http, upstream } = settingsOf(`${dir.path}/svc.toml`);
    expect([service.name, http.host, upstream.url]).toEqual(["mine", "0.0.0.0", server.url]);
    expect(http.anonymous_units_per_minute).toBeGreaterThan(0);
    const checked = await run(["config", "check"], { cwd: dir.path });
    expect(checked).toMatchObject({ exitCode: 0, out: `The settings are valid (${dir.path}/svc.toml).\n` });
    expect(checked.errors).toContain(`"level":"info"`);
    expect(checked.errors).toContain(`"file":"${dir.path}/svc.toml"`);
  });

  test("tests each of several nodes, and writes all of them", async () => {
    using dir = emptyDir();
    const away = "http://127.0.0.1:1";
    const flags = ["--all", "--upstream", server.url, "--upstream", away, "--set", "trust.level=node"];
    const ended = await run(["init", ...flags, "--json"], { cwd: dir.path });
    expect(ended).toMatchObject({ exitCode: 0, errors: "" });
    const levels = JSON.parse(ended.out).upstreams.map((one: { check: string; level: string }) => [
      one.check,
      one.level,
    ]);
    expect(levels).toContainEqual(["certificates 1", "ok"]);
    expect(levels).toContainEqual(["replication 1", "warn"]);
    expect(levels).toContainEqual(["calls 1", "ok"]);
    expect(levels.at(-2)[0]).toBe("followed node 2");
    expect(levels.at(-2)[1]).not.toBe("ok");
    expect(levels.at(-1)).toEqual(["who owns an fid", "warn"]);
    const { upstream } = settingsOf(`${dir.path}/svc.toml`);
    expect([upstream.url, upstream.urls]).toEqual(["", [server.url, away]]);
  });

  test("puts each secret into a file of its own, which only its owner can read", async () => {
    using dir = emptyDir();
    const key = "ab".repeat(32);
    const flags = [
      "--set",
      `signers.encryption_key=${key}`,
      "--set",
      "state.url=postgres://svc:hunter22@db/svc",
    ];
    const named = ["--set", "state.password_file=pw", "--set", "console.operator=false"];
    writeFileSync(join(dir.path, "pw"), "hunter23\n");
    const ended = await run(["init", "--demo", ...flags, ...named], { cwd: dir.path });
    expect(ended).toMatchObject({ exitCode: 0, errors: "" });
    const text = readFileSync(`${dir.path}/svc.toml`, "utf8");
    expect(text).not.toMatch(/hunter2|abab/);
    expect(text).toContain(`password_file = "${dir.path}/pw"`);
    const secrets = ["signers.encryption_key", "state.url"].map((end) => `${dir.path}/svc.${end}`);
    expect(secrets.map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
    const { signers, state } = settingsOf(`${dir.path}/svc.toml`);
    expect([signers.encryption_key, state.password]).toEqual([key, "hunter23"]);
  });

  test.each([
    [["init"], "pass the users to serve with one of --demo, --fids"],
    [["init", "--demo", "--all"], "only one of --demo"],
    [["init", "--all"], "--upstream is missing"],
    [["init", "--fids", "1,x", "--upstream", "http://127.0.0.1:1"], "separated by commas"],
    [["init", "--fids", "1", "--upstream", "http://host:3383/path"], "without a path"],
    [["init", "--fid-file", "nowhere", "--upstream", "http://127.0.0.1:1"], "which does not exist"],
    [["init", "--demo", "--set", "http.port=x"], "must be an integer from 0 to 65535"],
    [["init", "--demo", "--set", "nope=1"], "--set nope is not a setting"],
    [["init", "--demo", "--set", "http.prot=1"], "did you mean http.port?"],
    [["init", "--demo", "--set", "http.port"], "--set http.port must be section.key=value"],
    [["init", "--demo", "--config", "x.toml"], "--output names the file"],
    [["init", "--demo", "--public"], "leave out --public"],
    [["init", "--demo", "--set", "http.host=0.0.0.0"], "leave out --public and other hosts"],
    [
      ["init", "--all", "--upstream", "http://127.0.0.1:1", "--set", "upstream.fids=1", "--no-estimate"],
      "init has --fids",
    ],
  ])("%j is an error that says what is missing or wrong, and writes nothing", async (args, reason) => {
    using dir = emptyDir();
    const ended = await run(args, { cwd: dir.path });
    expect(ended).toMatchObject({ exitCode: 1, out: "" });
    expect(ended.errors).toContain(reason);
    expect(readdirSync(dir.path)).toEqual([]);
  });

  test("writes nothing without the upstream, unless --no-estimate says that it need not respond", async () => {
    using dir = emptyDir();
    const flags = ["init", "--fids", "3,1,3", "--upstream", "http://127.0.0.1:1"];
    const ended = await run(flags, { cwd: dir.path });
    expect(ended.exitCode).toBe(75);
    expect(ended.errors).toContain("--no-estimate writes the settings without asking it");
    expect(readdirSync(dir.path)).toEqual([]);
    expect((await run([...flags, "--no-estimate"], { cwd: dir.path })).exitCode).toBe(0);
    expect(settingsOf(`${dir.path}/svc.toml`).upstream.fids).toEqual([1, 3]);
  });

  test("replaces a file only with --force", async () => {
    using dir = emptyDir();
    const file = join(dir.path, "svc.toml");
    writeFileSync(file, "# mine\n");
    chmodSync(file, 0o640);
    const refused = await run(["init", "--demo"], { cwd: dir.path });
    expect(refused.exitCode).toBe(1);
    expect(refused.errors).toContain("already exists; --force replaces it");
    expect(readFileSync(file, "utf8")).toBe("# mine\n");
    expect((await run(["init", "--demo", "--force"], { cwd: dir.path })).exitCode).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o644);
    expect(readdirSync(dir.path)).toEqual(["svc.toml"]);
  });

  test("takes a dangling link for a file, and writes through a link to a file", async () => {
    using dir = emptyDir();
    const file = join(dir.path, "svc.toml");
    symlinkSync("missing.toml", file);
    const refused = await run(["init", "--demo"], { cwd: dir.path });
    expect(refused).toMatchObject({ exitCode: 1, errors: expect.stringContaining("already exists") });
    writeFileSync(`${dir.path}/missing.toml`, "# mine\n");
    expect((await run(["init", "--demo", "--force"], { cwd: dir.path })).exitCode).toBe(0);
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(readFileSync(`${dir.path}/missing.toml`, "utf8")).toContain("[http]");
  });

  test("does not replace a file that was written while the followed node was asked", async () => {
    using dir = emptyDir();
    const file = join(dir.path, "svc.toml");
    const slow = new UpstreamServer(node, { onCall: () => writeFileSync(file, "# theirs\n") });
    await slow.start();
    const ended = await run(["init", "--all", "--upstream", slow.url], { cwd: dir.path });
    slow.stop();
    expect(ended).toMatchObject({ exitCode: 1, errors: expect.stringContaining("already exists") });
    expect(readFileSync(file, "utf8")).toBe("# theirs\n");
  });

  test("writes svc.toml into a directory that exists or is named with a slash", async () => {
    using dir = emptyDir();
    mkdirSync(join(dir.path, "here"));
    const [here, there] = await Promise.all([
      run(["init", "--demo", "--output", "here"], { cwd: dir.path }),
      run(["init", "--demo", "--output", "there/"], { cwd: dir.path }),
    ]);
    expect([here.exitCode, there.exitCode]).toEqual([0, 0]);
    for (const folder of ["here", "there"]) {
      expect(readdirSync(join(dir.path, folder))).toEqual(["svc.toml"]);
      expect(settingsOf(`${dir.path}/${folder}/svc.toml`).data.dir).toBe(`${dir.path}/${folder}/data`);
    }
    expect(there.out).toContain(`svc --config ${dir.path}/there/svc.toml doctor`);
  });

  test("quotes paths in the commands to run next", async () => {
    using dir = emptyDir();
    const ended = await run(["init", "--demo", "--output", "it's here/svc.toml"], { cwd: dir.path });
    expect(ended.out).toContain(`--config '${dir.path}/it'\\''s here/svc.toml' doctor`);
  });
});

/** Runs the program on a terminal. Each reply is typed once its question is on the screen. */
async function onTerminal(cwd: string, answers: readonly (readonly [question: string, answer: string])[]) {
  let screen = "";
  let left = [...answers];
  const child = Bun.spawn([...compiledProgram, "init"], {
    cwd,
    env: { PATH: process.env.PATH ?? "", HOME: cwd },
    terminal: {
      cols: 200,
      rows: 50,
      data(terminal, bytes) {
        screen += Buffer.from(bytes).toString();
        // One read may have several of them.
        for (let [next] = left; next && screen.includes(next[0]); [next] = left) {
          screen = screen.slice(screen.indexOf(next[0]) + next[0].length);
          left = left.slice(1);
          terminal.write(next[1]);
        }
      },
    },
  });
  const exitCode = await child.exited;
  child.terminal?.close();
  return { exitCode, screen, unasked: left.map(([question]) => question) };
}

describe("svc init on a terminal", () => {
  test("asks which users the node serves, asks again for what it does not understand, and writes after a yes", async () => {
    using dir = emptyDir();
    const { exitCode, screen, unasked } = await onTerminal(dir.path, [
      ["Number [1]:", "9\r"],
      ["A number from 1 to 5.", ""],
      ["Number [1]:", "2\r"],
      ["a file with them:", "1, 2\r"],
      ["http://host:3383):", "nonsense\r"],
      ["http://host:3383):", `${server.url}\r`],
      ["Directory of all data", "\r"],
      ["for other machines", "\r"],
      ["memory: up to", ""],
      ["svc.toml?", "\r"],
    ]);
    expect(unasked).toEqual([]);
    expect(exitCode).toBe(0);
    expect(screen).toContain("/svc serve");
    const { upstream, data, http } = settingsOf(`${dir.path}/svc.toml`);
    expect(upstream).toMatchObject({ url: server.url, fids: [1, 2] });
    expect([data.dir, http.host]).toEqual([`${dir.path}/data`, "127.0.0.1"]);
  });

  test("ends at Ctrl-C while the followed node does not respond", async () => {
    using dir = emptyDir();
    const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
    const { exitCode, screen } = await onTerminal(dir.path, [
      ["Number [1]:", "5\r"],
      ["http://host:3383):", `http://127.0.0.1:${silent.port}\r`],
      ["Directory of all data", "\r"],
      ["for other machines", "\r"],
      ["Asking http", "\u0003"],
    ]);
    silent.stop(true);
    expect([exitCode, screen]).toEqual([1, expect.stringContaining("stopped: nothing was written")]);
    expect(existsSync(`${dir.path}/svc.toml`)).toBe(false);
  });

  test.each([
    ["Ctrl-C", "\u0003"],
    ["Ctrl-D", "\u0004"],
  ])("ends with exit code 1 and writes nothing at %s", async (_, key) => {
    using dir = emptyDir();
    const { exitCode, screen } = await onTerminal(dir.path, [
      ["Number [1]:", "1\r"],
      ["Directory of all data", key],
    ]);
    expect(exitCode).toBe(1);
    expect(screen).toContain("nothing was written");
    expect(existsSync(`${dir.path}/svc.toml`)).toBe(false);
  });
});
