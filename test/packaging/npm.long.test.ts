import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import { packageFile, packFolder, packNpm } from "../../packaging/npm/packages.ts";
import { IS_LONG } from "../support/long.ts";
import {
  HAS_NODE_RELEASES,
  NODE_RELEASES,
  type NodeRelease,
  type NodeReleases,
  nodeReleases,
} from "../support/node-releases.ts";
import { startNpmRegistry } from "./npm-registry.ts";
import { writePackagedProgram } from "./packaged-program.ts";

const ROOT = join(import.meta.dir, "../..");
const TARGETS = [
  "linux-x64",
  "linux-x64-baseline",
  "linux-x64-musl",
  "linux-x64-musl-baseline",
  "darwin-arm64",
];
const folder = mkdtempSync(join(tmpdir(), "svc-npm-test-"));
const registry = startNpmRegistry();
const hasNpm = Bun.which("npm") !== null && process.platform === "linux" && process.arch === "x64";
/** The packages of the launcher and its program, unpacked as npm does. */
const modules = join(folder, "unpacked/node_modules/@svc");
let files: string[] = [];

beforeAll(() => {
  mkdirSync(join(folder, "npm"));
  const program = writePackagedProgram(join(folder, "program"));
  const small = join(folder, "small");
  writeFileSync(small, "of another platform", { mode: 0o755 });
  // npm installs the first two here.
  const programs = new Map(TARGETS.map((target, at) => [target, at < 2 ? program : small]));
  files = packNpm({ scope: "@svc", programs, outdir: join(folder, "npm"), origin: {} });
  for (const file of files) registry.add(file);
  const launcher = files.at(-1) ?? "";
  mkdirSync(join(modules, "node"), { recursive: true });
  Bun.spawnSync(["tar", "-xzf", launcher, "--strip-components=1", "-C", join(modules, "node")]);
}, 600_000);
afterAll(() => {
  registry[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

const environment = (extra: Readonly<Record<string, string>> = {}) => ({
  PATH: process.env.PATH ?? "",
  HOME: folder,
  npm_config_registry: registry.url,
  npm_config_cache: join(folder, "cache"),
  npm_config_update_notifier: "false",
  npm_config_yes: "true",
  ...extra,
});

/** Starts the unpacked launcher in Node, with a script of the shell as its program. */
function launch(script: string, args: readonly string[] = []) {
  const program = join(folder, `${crypto.randomUUID()}.sh`);
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  return start(["node", join(modules, "node/launcher.mjs"), ...args], { SVC_BINARY: program });
}

function start(command: string[], env: Readonly<Record<string, string>> = {}) {
  const child = Bun.spawn(command, {
    cwd: folder,
    env: environment(env),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    // A group of its own, as in a terminal.
    detached: true,
  });
  return { child, lines: linesOf(child.stdout), errors: new Response(child.stderr).text() };
}

async function* linesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string, void> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

/** The CPU seconds of a process and those below it, with those of the children that have ended. */
function cpuSecsOfTree(pid: number): number {
  const [, , , , , , , , , , , ...times] = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  const own = times.slice(0, 4).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  return children.reduce((sum, child) => sum + cpuSecsOfTree(Number(child)), own);
}

async function next(lines: AsyncGenerator<string, void>): Promise<string> {
  return (await lines.next()).value ?? "";
}

describe("the packages", () => {
  test("hold the program or the launcher, the licence and a page, and run nothing when they are installed", () => {
    for (const file of files) {
      const { stdout } = Bun.spawnSync(["tar", "-tzf", file]);
      const names = stdout
        .toString()
        .split("\n")
        .filter((name) => name !== "" && !name.endsWith("/"));
      const isLauncher = file === files.at(-1);
      const own = isLauncher ? "launcher.mjs" : "svc";
      expect(names.sort()).toEqual(
        ["LICENSE", "README.md", own, "package.json"].map((name) => `package/${name}`).sort(),
      );
      const manifest = JSON.parse(
        Bun.spawnSync(["tar", "-xzOf", file, "package/package.json"]).stdout.toString(),
      );
      expect(manifest.version).toBe(version);
      expect(manifest.scripts).toBeUndefined();
    }
    const { optionalDependencies } = JSON.parse(readFileSync(join(modules, "node/package.json"), "utf8"));
    expect(optionalDependencies).toEqual(
      Object.fromEntries(TARGETS.map((target) => [`@svc/node-${target}`, version])),
    );
  });

  test.skipIf(!hasNpm)(
    "go from an empty cache to the first response of the demo by one npx, and the next npx needs no registry",
    async () => {
      const serve = ["--data-dir", join(folder, "data"), "--port", "0", "--set", "hub.port=0"];
      const { child, lines, errors } = start(["npx", "@svc/node", ...serve, "serve", "--demo"]);
      const respond = async (from: AsyncGenerator<string, void>) => {
        const places = JSON.parse(await next(from)) as { readonly api: string };
        const { user } = (await (await fetch(`${places.api}/user?fid=3`)).json()) as { user: unknown };
        expect(user).toMatchObject({ username: "mirawren" });
      };
      await respond(lines);
      // npm has unpacked 137 MB, and the demo has made its network.
      expect(cpuSecsOfTree(child.pid)).toBeLessThan(20);
      child.kill("SIGTERM");
      // npm itself ends at once; the program has the other end of its errors until it has shut down.
      expect(await errors).toContain('"msg":"Shut down"');
      const again = start(["npx", "--offline", "@svc/node", ...serve, "serve", "--demo"]);
      await respond(again.lines);
      // Ctrl-C of a terminal, which signals the group. A second signal would end the program at once, with an error.
      process.kill(-again.child.pid, "SIGINT");
      expect(await again.errors).toContain('"msg":"Shut down"');
      // npm says so of whatever it ran.
      expect(await again.child.exited).toBe(130);
    },
    180_000,
  );

  test.skipIf(!hasNpm || !IS_LONG)(
    "are published by the step of the workflow, the launcher after all that it names",
    async () => {
      const workflow = readFileSync(join(ROOT, ".github/workflows/release.yml"), "utf8");
      const [, step = ""] =
        /name: Publish the packages of npm\n +run: \|\n((?: {10}.*\n)+)/.exec(workflow) ?? [];
      expect(step).toContain("npm publish");
      expect(workflow).toContain("NPM_CONFIG_PROVENANCE: true");
      expect(workflow).toContain("npm audit signatures");
      using other = startNpmRegistry();
      const work = join(folder, "publish/dist/release");
      mkdirSync(work, { recursive: true });
      Bun.spawnSync(["cp", "-r", join(folder, "npm"), work]);
      const built = Bun.spawnSync([process.execPath, "client/build.ts", join(folder, "client/package")], {
        cwd: ROOT,
      });
      expect(built.exitCode).toBe(0);
      packFolder(join(folder, "client"), "package", join(work, "npm", packageFile("@svc/client")));
      writeFileSync(join(folder, "npmrc"), `//${new URL(other.url).host}/:_authToken=token\n`);
      const env = environment({
        npm_config_registry: other.url,
        npm_config_userconfig: join(folder, "npmrc"),
      });
      const run = Bun.spawn(["bash", "-e", "-c", step], {
        cwd: join(folder, "publish"),
        env,
        stderr: "pipe",
      });
      const errors = await new Response(run.stderr).text();
      expect([await run.exited, errors]).toEqual([0, expect.any(String)]);
      expect(other.names.at(-1)).toBe("@svc/node");
      expect([...other.names].sort()).toEqual([...registry.names, "@svc/client"].sort());
      const installed = start(["npx", "--registry", other.url, "@svc/node", "version"], {
        npm_config_cache: join(folder, "other-cache"),
      });
      expect(await next(installed.lines)).toBe(`svc ${version}`);
    },
    300_000,
  );

  const others = [
    ["Bun", process.execPath, "x", "--bun"],
    ["Bun with Node", process.execPath, "x"],
  ];
  test.skipIf(!hasNpm || !IS_LONG).each(others)(
    "start by %s",
    async (_, ...command) => {
      const { child, lines } = start([...command, "@svc/node", "version"], {
        BUN_INSTALL_CACHE_DIR: mkdtempSync(join(folder, "bun-")),
        TMPDIR: mkdtempSync(join(folder, "tmp-")),
      });
      expect(await next(lines)).toBe(`svc ${version}`);
      expect(await child.exited).toBe(0);
    },
    180_000,
  );
});

describe.skipIf(!hasNpm || !IS_LONG || !HAS_NODE_RELEASES)("other releases and package managers", () => {
  let releases: NodeReleases;
  beforeAll(async () => {
    releases = await nodeReleases();
  }, 180_000);
  /** The launcher and its program, as they are installed. */
  const installed = (release: NodeRelease, args: readonly string[], program?: string) =>
    start([join(releases.bin(release), "node"), join(modules, "node/launcher.mjs"), ...args], {
      ...(program === undefined ? {} : { SVC_BINARY: program }),
    });

  test.each(
    NODE_RELEASES.flatMap((release) => [[release, "SIGTERM"] as const, [release, "SIGINT"] as const]),
  )(
    "the launcher runs the demo in Node %s, passes %s on and keeps the exit code",
    async (release, signal) => {
      const program = join(folder, "program");
      const data = join(folder, `data-${release}`);
      const args = ["--data-dir", data, "--port", "0", "--set", "hub.port=0", "serve", "--demo"];
      const { child, lines, errors } = installed(release, args, program);
      const { api } = JSON.parse(await next(lines)) as { readonly api: string };
      expect((await fetch(`${api}/user?fid=3`)).status).toBe(200);
      child.kill(signal);
      expect(await child.exited).toBe(0);
      expect(await errors).toContain('"msg":"Shut down"');
      const refused = installed(release, ["--set", "no.such=1", "config", "check"], program);
      expect([await refused.child.exited, await refused.errors]).toEqual([
        1,
        expect.stringContaining("no.such"),
      ]);
      // It finds no program of this platform beside it.
      const missing = installed(release, ["version"]);
      expect(await missing.errors).toMatch(/the package @svc\/node-linux-x64\S* is not installed/);
    },
    180_000,
  );

  test.each([
    ["pnpm 10", "22", ["dlx"]],
    ["pnpm 12", "18", ["dlx"]],
    ["yarn", "24", ["dlx", "--quiet"]],
  ] as const)(
    "%s with Node %s installs and starts the program",
    async (manager, release, command) => {
      const cwd = mkdtempSync(join(folder, `${manager}-`));
      writeFileSync(join(cwd, ".npmrc"), `registry=${registry.url}/\n`);
      writeFileSync(
        join(cwd, ".yarnrc.yml"),
        `npmRegistryServer: ${registry.url}\nunsafeHttpWhitelist: ["127.0.0.1"]\nenableTelemetry: false\nnpmMinimalAgeGate: 0\n`,
      );
      const path = `${releases.bin(release)}:${process.env.PATH}`;
      const [tool = "", ...script] = releases.manager(manager);
      const program = Bun.which(tool, { PATH: path }) ?? tool;
      const child = Bun.spawn([program, ...script, ...command, "@svc/node", "version"], {
        cwd,
        env: environment({
          PATH: path,
          HOME: cwd,
          TMPDIR: cwd,
        }),
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      const [out, errors] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      expect([await child.exited, errors, out.trim()]).toEqual([
        0,
        expect.any(String),
        expect.stringContaining(`svc ${version}\n`),
      ]);
    },
    180_000,
  );
});

describe.skipIf(!hasNpm)("the launcher", () => {
  test("passes arguments on and exits as the program does", async () => {
    const { child, lines } = launch('echo "$@"; exit 75', ["--set", "a=b c"]);
    expect(await next(lines)).toBe("--set a=b c");
    expect(await child.exited).toBe(75);
    const killed = launch("kill -9 $$");
    await killed.child.exited;
    expect(killed.child.signalCode).toBe("SIGKILL");
  });

  test("passes one Ctrl-C on once, though npm sends it again", async () => {
    const program = join(folder, "counts-signals.ts");
    writeFileSync(
      program,
      `#!${process.execPath}
      process.on("SIGINT", () => console.log("SIGINT"));
      process.on("SIGWINCH", () => process.exit(3));
      setInterval(() => {}, 1e6);
      console.log("ready");`,
      { mode: 0o755 },
    );
    // The clock stands still, so that both come within a second on a busy machine, too.
    const command = [...preloading("performance.now = () => 0;"), join(modules, "node/launcher.mjs")];
    const { child, lines } = start(command, { SVC_BINARY: program });
    expect(await next(lines)).toBe("ready");
    // A terminal signals the group.
    process.kill(-child.pid, "SIGINT");
    expect(await next(lines)).toBe("SIGINT");
    child.kill("SIGINT");
    child.kill("SIGWINCH");
    expect(await Array.fromAsync(lines)).toEqual([]);
    expect(await child.exited).toBe(3);
  });

  test("signals the program once when the shell of npm has ended, however long the program shuts down", async () => {
    const program = join(folder, "shuts-down-slowly.ts");
    writeFileSync(
      program,
      `#!${process.execPath}
      process.on("SIGTERM", () => {
        console.log("SIGTERM");
        setTimeout(() => process.exit(), 500);
      });
      setInterval(() => {}, 1e6);
      console.log("ready");`,
      { mode: 0o755 },
    );
    // Looks for its parent all the time, seconds apart by its clock.
    const faster =
      "let ms = 0; performance.now = () => (ms += 5_000); const every = setInterval; globalThis.setInterval = (run) => every(run, 1);";
    const launcher = [...preloading(faster), join(modules, "node/launcher.mjs")];
    const { child, lines } = start(["sh", "-c", '"$@" & wait', "sh", ...launcher], {
      SVC_BINARY: program,
      npm_command: "exec",
    });
    expect(await next(lines)).toBe("ready");
    child.kill("SIGKILL");
    expect(await Array.fromAsync(lines)).toEqual(["SIGTERM"]);
  });

  test("leaves no program when it is killed by kill -9", async () => {
    const serve = [
      "--data-dir",
      join(folder, "killed"),
      "--port",
      "0",
      "--set",
      "hub.port=0",
      "serve",
      "--demo",
    ];
    const { child, lines, errors } = start(["node", join(modules, "node/launcher.mjs"), ...serve], {
      SVC_BINARY: join(folder, "program"),
    });
    await next(lines);
    child.kill("SIGKILL");
    // The program has the other end, which it closes as it exits.
    expect(await errors).toContain('"msg":"Shut down"');
  }, 180_000);

  const NO_AVX2 = `const read = fs.readFileSync;
    fs.readFileSync = (path, ...rest) => path === "/proc/cpuinfo" ? "flags: sse4_2" : read(path, ...rest);`;
  const MUSL = "process.report.getReport = () => ({ header: {} });";
  const machine = (platform: string, arch: string) =>
    `Object.defineProperty(process, "platform", { value: "${platform}" });
    Object.defineProperty(process, "arch", { value: "${arch}" });`;
  test.each([
    ["glibc and AVX2", "", "linux-x64"],
    ["a processor without AVX2", NO_AVX2, "linux-x64-baseline"],
    ["musl", MUSL, "linux-x64-musl"],
    ["both", NO_AVX2 + MUSL, "linux-x64-musl-baseline"],
    ["a Mac", machine("darwin", "arm64"), "darwin-arm64"],
  ])(
    "takes the program for %s, and names its package where it is not installed",
    async (_, preload, target) => {
      const cpu =
        'fs.readFileSync = ((read) => (path, ...rest) => path === "/proc/cpuinfo" ? "flags: avx2" : read(path, ...rest))(fs.readFileSync);';
      const command = [...preloading(`${cpu}${preload}`), join(modules, "node/launcher.mjs")];
      const missing = start(command);
      expect(await missing.errors).toContain(`the package @svc/node-${target} is not installed`);
      expect(await missing.child.exited).toBe(1);
      const own = join(modules, `node-${target}`);
      mkdirSync(own, { recursive: true });
      writeFileSync(join(own, "package.json"), "{}");
      // Unpacked without the permission to execute.
      writeFileSync(join(own, "svc"), `#!/bin/sh\necho ${target}\n`);
      const { lines, child } = start(command);
      expect(await next(lines)).toBe(target);
      expect(await child.exited).toBe(0);
      rmSync(own, { recursive: true });
    },
  );

  test.each([
    ["win32", "x64", "there is no program for win32-x64, only for linux-x64, linux-x64-baseline"],
    ["win32", "x64", "On Windows, run it in WSL."],
    ["linux", "riscv64", "there is no program for linux-riscv64, only for linux-x64"],
  ])("says on %s %s which platforms there are", async (platform, arch, text) => {
    const { errors, child } = start([
      ...preloading(machine(platform, arch)),
      join(modules, "node/launcher.mjs"),
    ]);
    expect(await errors).toContain(text);
    expect(await child.exited).toBe(1);
  });
});

/** Node, with what it knows of its machine replaced first. */
function preloading(code: string): string[] {
  const module = `import fs from "node:fs"; import { syncBuiltinESMExports } from "node:module"; ${code} syncBuiltinESMExports();`;
  return ["node", "--import", `data:text/javascript,${encodeURIComponent(module)}`];
}
