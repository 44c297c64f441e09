import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { readSmallFile } from "../../../src/config/files/small-file.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { createSetUpRuns } from "../../../src/console/operator/set-up-runs.ts";
import type { SetUpWish } from "../../../src/console/setup/set-up.ts";
import { nextImport } from "../../../src/import/next-import.ts";
import { writeRecords } from "../../../src/import/write-records.ts";
import { reasonOf } from "../../../src/lib/failure.ts";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";
import { until } from "../../support/manual-time.ts";
import { signedCast } from "../../support/messages.ts";
import { accountRecords, accountSigner } from "../../support/node.ts";
import { makeChain } from "../../support/upstream/chain.ts";
import { UpstreamNode } from "../../support/upstream/node.ts";
import { UpstreamServer } from "../../support/upstream/server.ts";
import { emptyDir, run } from "../run.ts";
import { all as allOf, type SetUpReport, setUpIn } from "./set-up-in.ts";

const TICKS = 25;
const node = new UpstreamNode(makeChain("setup1", TICKS));
const server = new UpstreamServer(node);

beforeAll(async () => {
  node.produce(TICKS);
  await server.start();
});
afterAll(() => server.stop());

const all = (urls: readonly string[] = [server.url]): SetUpWish => allOf(urls);

/** Runs a set-up in a process of its own, started by a command. */
async function reportOf(command: readonly string[], dir: string): Promise<SetUpReport> {
  const script = join(import.meta.dir, "set-up-in.ts");
  const child = Bun.spawn([...command, process.execPath, script, dir, server.url], {
    // Nothing of the runtime's own is written.
    env: { PATH: process.env.PATH ?? "", HOME: dir, BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(errors);
  return JSON.parse(out) as SetUpReport;
}

/** Runs a command as a user who owns nothing, as the user of the packages does in /etc. */
const AS_NO_ONE = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
const canBeNoOne =
  process.getuid?.() === 0 &&
  Bun.which("setpriv") !== null &&
  Bun.spawnSync([...AS_NO_ONE, process.execPath, "--version"]).success &&
  Bun.spawnSync([...AS_NO_ONE, "test", "-r", import.meta.path]).success;

describe("the set-up of a running node", () => {
  test("check 24: writes the file that svc init writes, once it was shown", async () => {
    using dir = emptyDir();
    const { file, applied, setUp } = setUpIn(dir.path, undefined);
    expect(setUp.apply(all())).rejects.toThrow("check again");
    const { files, findings = [] } = await setUp.check(all());
    expect(existsSync(file)).toBe(false);
    expect(findings.map(({ check }) => check)).toContain("data directory");
    expect(findings.map(({ check }) => check)).toContain("followed node");
    await setUp.apply(all());
    expect(applied).toEqual([false]);
    expect(readFileSync(file, "utf8")).toBe(files?.[0]?.text ?? "");
    using other = emptyDir();
    const flags = ["--all", "--upstream", server.url, "--data-dir", `${dir.path}/data`, "--no-estimate"];
    const ended = await run(["init", ...flags, "--output", `${other.path}/svc.toml`]);
    expect(ended.exitCode).toBe(0);
    expect(readFileSync(`${other.path}/svc.toml`, "utf8")).toBe(readFileSync(file, "utf8"));
  }, 180_000);

  test("writes the public URL and backups that are wanted, into a new file and into one without these sections", async () => {
    const settings = {
      "service.public_url": "https://node.example",
      "backup.dir": "/backups",
      "backup.at": "03:15",
    };
    for (const before of [undefined, "[http]\nport = 8099\n"]) {
      using dir = emptyDir();
      const { file, setUp } = setUpIn(dir.path, before);
      await setUp.check({ ...all(), settings });
      await setUp.apply({ ...all(), settings });
      const { config } = loadConfig({
        argvFlags: { config: file },
        env: {},
        readFile: readSmallFile,
        cwd: dir.path,
      });
      expect(config.service.public_url).toBe("https://node.example");
      expect(config.backup).toMatchObject({ dir: "/backups", at: "03:15" });
      expect(config.upstream.url).toBe(server.url);
    }
    using dir = emptyDir();
    const { file, setUp } = setUpIn(dir.path, "[backup]\nkeep = 3\n");
    const { note, files } = await setUp.check({ ...all(), settings });
    expect(note).toContain("has a section [backup] already");
    expect(files?.map(({ path }) => path)).toEqual([`${dir.path}/data/settings.toml`]);
    await setUp.apply({ ...all(), settings });
    expect(readFileSync(file, "utf8")).toBe("[backup]\nkeep = 3\n");
    expect(statSync(`${dir.path}/data/settings.toml`).mode & 0o777).toBe(0o600);
    const read = loadConfig({
      argvFlags: { config: file, dataDir: `${dir.path}/data` },
      env: {},
      readFile: readSmallFile,
      cwd: dir.path,
    });
    expect(read.config.backup).toMatchObject({ dir: "/backups", at: "03:15", keep: 3 });
    expect(read.config.service.public_url).toBe("https://node.example");
    expect(read.sources.get("upstream.url")).toBe("console");
    const wrong = { ...all(), settings: { "backup.at": "25:00", "backup.dir": "/backups" } };
    using other = emptyDir();
    expect(setUpIn(other.path, undefined).setUp.check(wrong)).rejects.toThrow("backup.at");
  }, 180_000);

  test("adds a section to the file that the node has read, and changes nothing else of it", async () => {
    using dir = emptyDir();
    const before = `# mine\n[http]\nport = 8099\n`;
    const { file, setUp } = setUpIn(dir.path, before);
    const wish: SetUpWish = { scope: { kind: "followers", fid: 7 }, urls: [server.url] };
    await setUp.check(wish);
    await setUp.apply(wish);
    const after = readFileSync(file, "utf8");
    expect(after).toStartWith(`${before}\n[upstream]\n`);
    const { upstream, http } = loadConfig({
      argvFlags: { config: file },
      env: {},
      readFile: readSmallFile,
      cwd: "/",
    }).config;
    expect([upstream.url, http.port]).toEqual([server.url, 8099]);
    expect(readFileSync(upstream.fid_file, "utf8")).toContain("Fid 7 and its one follower");
  }, 60_000);

  test("reports before writing what the node's environment forbids, because the node would not start again", async () => {
    using dir = emptyDir();
    const { setUp } = setUpIn(dir.path, undefined, { SVC_UPSTREAM_FIDS: "7" });
    const fids = Array.from({ length: 1500 }, (_, at) => at + 1);
    const wish: SetUpWish = { scope: { kind: "fids", fids }, urls: [server.url] };
    for (const step of ["check", "apply"] as const)
      await expect(setUp[step](wish)).rejects.toThrow("must be empty while upstream.fids names fids");
    expect(readdirSync(dir.path)).toEqual(["data"]);
  }, 60_000);

  test("an existing list of fids blocks the set-up: the lines to paste would follow what is in it", async () => {
    using dir = emptyDir();
    const { file, setUp } = setUpIn(dir.path, undefined);
    const fids = Array.from({ length: 1500 }, (_, at) => at + 1);
    const wish: SetUpWish = { scope: { kind: "fids", fids }, urls: [server.url] };
    writeFileSync(`${dir.path}/svc.fids`, "1\n");
    await expect(setUp.check(wish)).rejects.toThrow("svc.fids already exists: move it away, and check again");
    rmSync(`${dir.path}/svc.fids`);
    await setUp.check(wish);
    // The settings cannot be written: what was written before is no longer there, and the next attempt succeeds.
    writeFileSync(`${file}.${process.pid}.new`, "of a process that was killed");
    await expect(setUp.apply(wish)).rejects.toThrow("svc.toml cannot be written");
    expect(readdirSync(dir.path)).toEqual(["data"]);
    await setUp.apply(wish);
    expect(readFileSync(`${dir.path}/svc.fids`, "utf8")).toContain("1500");
  }, 60_000);

  test("check 25: says of a dead node, one that is not a node, one of another network, and a foreign file what is wrong, and writes nothing", async () => {
    using dir = emptyDir();
    using web = Bun.serve({ port: 0, fetch: () => new Response("a page") });
    const { setUp } = setUpIn(dir.path, undefined);
    for (const url of ["http://127.0.0.1:1", web.url.origin]) {
      const { findings = [] } = await setUp.test(all([url]));
      expect([url, findings.some(({ level }) => level === "fail")]).toEqual([url, true]);
      expect(setUp.estimate(all([url]))).rejects.toThrow();
    }
    const other = new UpstreamNode(makeChain("setup2", TICKS, FarcasterNetwork.FARCASTER_NETWORK_TESTNET));
    const elsewhere = new UpstreamServer(other);
    other.produce(TICKS);
    await elsewhere.start();
    const refusal = await setUp.test(all([elsewhere.url]));
    await elsewhere.stop();
    expect(refusal.findings).toMatchObject([
      {
        level: "fail",
        text: expect.stringContaining("its messages are of testnet, and protocol.network is mainnet"),
      },
    ]);
    expect(existsSync(`${dir.path}/svc.toml`)).toBe(false);

    using foreign = emptyDir();
    const before = "[upstream]\nready_lag_secs = 5\n";
    const theirs = setUpIn(foreign.path, before);
    const checked = await theirs.setUp.check(all());
    expect(checked.note).toContain("has a section [upstream] already");
    expect(checked.files?.[0]?.text).toContain(`url = "${server.url}"`);
    expect(readFileSync(theirs.file, "utf8")).toBe(before);
    expect(readdirSync(`${foreign.path}/data`)).toEqual([]);
  }, 120_000);

  test.skipIf(process.getuid?.() === 0 && !canBeNoOne)(
    "check 25: says that the file cannot be written and uses the one in the data directory; where neither works, writes nothing",
    async () => {
      for (const isDataWritable of [true, false]) {
        using dir = emptyDir();
        mkdirSync(`${dir.path}/data`);
        chmodSync(`${dir.path}/data`, isDataWritable ? 0o777 : 0o555);
        chmodSync(dir.path, canBeNoOne ? 0o755 : 0o555);
        const { note, files, refusal } = await reportOf(canBeNoOne ? AS_NO_ONE : [], dir.path);
        const written = readdirSync(`${dir.path}/data`);
        chmodSync(dir.path, 0o755);
        expect(note).toContain("may not write");
        expect(files).toEqual([`${dir.path}/data/settings.toml`]);
        expect(readdirSync(dir.path)).toEqual(["data"]);
        expect(written).toEqual(isDataWritable ? ["settings.toml"] : []);
        if (isDataWritable) expect(refusal).toBeUndefined();
        else expect(refusal).toContain("settings.toml cannot be written");
      }
    },
    60_000,
  );

  test("lists of fids: a file is named, and a list from a followed node goes into the file of the data directory", async () => {
    using dir = emptyDir();
    const list = `${dir.path}/my-fids`;
    writeFileSync(list, "3 4\nsecret-word\n");
    const { file, setUp } = setUpIn(dir.path, "[upstream]\nready_lag_secs = 5\n");
    const wish: SetUpWish = { scope: { kind: "file", path: list }, urls: [server.url] };
    for (const step of ["estimate", "check"] as const)
      await expect(setUp[step](wish)).rejects.toThrow("line 2 has something that is not an fid");
    await expect(setUp.check({ ...wish, scope: { kind: "file", path: dir.path } })).rejects.toThrow(
      "is not a regular file",
    );
    writeFileSync(list, "3 4\n");
    await setUp.check(wish);
    await setUp.apply(wish);
    const read = () =>
      loadConfig({
        argvFlags: { config: file, dataDir: `${dir.path}/data` },
        env: {},
        readFile: readSmallFile,
        cwd: "/",
      }).config.upstream;
    expect(read()).toMatchObject({ fid_file: list, fids: [], ready_lag_secs: 5 });
    rmSync(`${dir.path}/data/settings.toml`);
    const followers: SetUpWish = { scope: { kind: "followers", fid: 7 }, urls: [server.url] };
    await setUp.check(followers);
    await setUp.apply(followers);
    expect(read().fid_file).toBe("");
    expect(read().fids).toHaveLength(2);
    expect(read().fids).toContain(7);
    expect(readdirSync(dir.path).toSorted()).toEqual(["data", "my-fids", "svc.toml"]);
  }, 60_000);

  test("an import is estimated and checked, and left to the next start, with no settings of its own", async () => {
    using dir = emptyDir();
    const { applied, setUp } = setUpIn(dir.path, undefined);
    const path = `${dir.path}/records`;
    const wish: SetUpWish = { scope: { kind: "import", path }, urls: [] };
    for (const step of ["estimate", "check"] as const)
      await expect(setUp[step](wish)).rejects.toThrow("no such file");
    writeFileSync(path, "root:x:0:0:a secret");
    for (const step of ["estimate", "check"] as const) {
      const refusal = await setUp[step](wish).then(() => "", reasonOf);
      expect(refusal).toBe(`${path} has no records of Farcaster that can be read`);
    }
    const bytes = signedCast(7, "hello", accountSigner(7));
    await writeRecords(path, [...accountRecords(7), { kind: "message", bytes }]);
    expect((await setUp.estimate(wish)).cost).toMatch(/^1 messages of 1 fids[\s\S]*free: /);
    const { files, findings = [] } = await setUp.check(wish);
    expect(files).toEqual([]);
    expect(findings.map(({ check }) => check)).toContain("data directory");
    expect(readdirSync(`${dir.path}/data`)).toEqual([]);
    renameSync(path, `${path}.away`);
    await expect(setUp.apply(wish)).rejects.toThrow("no such file");
    expect(nextImport(`${dir.path}/data`)).toBeUndefined();
    renameSync(`${path}.away`, path);
    await setUp.apply(wish);
    expect(applied).toEqual([false]);
    expect(nextImport(`${dir.path}/data`)).toBe(path);
    // Where users reach it is a line of its settings.
    const settings = { "service.public_url": "https://node.example" };
    await setUp.check({ ...wish, settings });
    await setUp.apply({ ...wish, settings });
    expect(readFileSync(`${dir.path}/svc.toml`, "utf8")).toContain('public_url = "https://node.example"');
  }, 60_000);

  test.skipIf(process.platform === "win32")(
    "check 25: says that the disk takes no file, and leaves no part of one",
    async () => {
      using dir = emptyDir();
      const full = ["bash", "-c", 'trap "" XFSZ; ulimit -f 0; exec "$@"', "bash"];
      const { refusal } = await reportOf(full, dir.path);
      expect(refusal).toContain("svc.toml cannot be written: ");
      expect(readdirSync(dir.path)).toEqual(["data"]);
    },
    60_000,
  );

  test("a file that was changed after it was shown is not written over", async () => {
    using dir = emptyDir();
    const { file, applied, setUp } = setUpIn(dir.path, "[http]\nport = 8099\n");
    await setUp.check(all());
    writeFileSync(file, "[http]\nport = 8098\n");
    await expect(setUp.apply(all())).rejects.toThrow("changed since they were shown");
    expect(readFileSync(file, "utf8")).toBe("[http]\nport = 8098\n");
    await setUp.check(all());
    // While the node to follow is asked.
    const applying = setUp.apply(all());
    writeFileSync(file, "[http]\nport = 8097\n");
    await expect(applying).rejects.toThrow("changed since they were shown");
    expect(readFileSync(file, "utf8")).toBe("[http]\nport = 8097\n");
    expect(applied).toEqual([]);
  }, 60_000);
});

describe("the steps of a set-up", () => {
  const never = new Promise<never>(() => {});
  const step = async () => ({});

  test("check 26: run one at a time, apply works once, and a node with data is not set up again", async () => {
    let isEmpty = true;
    const runs = createSetUpRuns(
      { test: () => never, estimate: step, check: step, apply: step },
      () => isEmpty,
      reasonOf,
    );
    const refusal = (name: "test" | "check" | "apply") => {
      const started = runs.startSetUp(name, all());
      return started.ok ? "started" : started.error.kind;
    };
    expect(refusal("apply")).toBe("started");
    await until(() => !runs.setUpState().is_running);
    expect(refusal("apply")).toBe("conflict");
    expect(runs.setUpState()).toMatchObject({ is_open: false, step: "apply", result: {} });

    const others = createSetUpRuns(
      { test: () => never, estimate: step, check: step, apply: step },
      () => isEmpty,
      reasonOf,
    );
    expect(others.startSetUp("test", all()).ok).toBe(true);
    expect(others.startSetUp("check", all())).toMatchObject({
      ok: false,
      error: { kind: "tooManyRequests" },
    });
    isEmpty = false;
    expect(others.startSetUp("check", all())).toMatchObject({ ok: false, error: { kind: "conflict" } });
  });

  test("what failed can be tried again, and its reason is a sentence", async () => {
    const apply = async () => {
      throw new Error("the disk is full");
    };
    const runs = createSetUpRuns({ test: step, estimate: step, check: step, apply }, () => true, reasonOf);
    runs.startSetUp("apply", all());
    await until(() => !runs.setUpState().is_running);
    expect(runs.setUpState()).toMatchObject({ is_open: true, error: "the disk is full", result: null });
  });
});
