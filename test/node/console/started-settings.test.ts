import { describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { readSmallFile } from "../../../src/config/files/small-file.ts";
import type { ArgvFlags, ConfigInput } from "../../../src/config/layers.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { BusyError } from "../../../src/lib/failure.ts";
import {
  keepWithout,
  noteStarted,
  startWithout,
  startWithoutInvalid,
} from "../../../src/node/console/started-settings.ts";
import { tempDir } from "../../support/program.ts";

test("settings that prevented a start are copied before the file changes: a crash in between loses none of those in force", () => {
  using dir = tempDir();
  const path = join(dir.path, "settings.toml");
  writeFileSync(path, '[http]\nanonymous = false\nhost = "203.0.113.5"\n');
  const without = startWithout(path, new Error("cannot listen"));
  if (!without) throw new Error("nothing to go back to");
  // The file cannot be written.
  mkdirSync(`${path}.new`);
  expect(() => keepWithout(path, without)).toThrow();
  expect(readFileSync(path, "utf8")).toContain("anonymous = false");
  expect(existsSync(without.refused.file)).toBe(true);
});

test("a start that fails because of another process or an absent server reverts nothing", () => {
  using dir = tempDir();
  const path = join(dir.path, "settings.toml");
  writeFileSync(path, "[http]\nmax_ids = 50\n");
  expect(startWithout(path, new BusyError("the data directory is in use"))).toBeUndefined();
  expect(startWithout(path, new Error("cannot listen"))?.refused.keys).toEqual(["http.max_ids"]);
});

test("a damaged note of the last start hides no fault, and gives no setting that the page may not change", () => {
  using dir = tempDir();
  const path = join(dir.path, "settings.toml");
  const note = join(dir.path, "settings.started.toml");
  writeFileSync(path, "[http]\nmax_ids = 50\nanonymous = false\n");
  writeFileSync(note, "[[[");
  expect(startWithout(path, new Error("cannot listen"))?.text).not.toContain("max_ids");
  writeFileSync(note, "[hub]\nadmin = true\n[http]\nmax_ids = 60\n");
  const without = startWithout(path, new Error("cannot listen"));
  expect(without?.refused.keys).toEqual(["http.max_ids"]);
  expect(without?.text).not.toContain("admin");
  expect(without?.text).toContain("max_ids = 60");
});

test("a second refusal keeps the settings that were refused first, and at most ten are kept", () => {
  using dir = tempDir();
  const path = join(dir.path, "settings.toml");
  const refuse = (host: string) => {
    writeFileSync(path, `[http]\nhost = "${host}"\n`);
    const without = startWithout(path, new Error("cannot listen"));
    if (!without) throw new Error("nothing to go back to");
    keepWithout(path, without);
  };
  for (let n = 1; n <= 12; n++) refuse(`203.0.113.${n}`);
  const hosts = readdirSync(dir.path)
    .filter((name) => name.startsWith("settings.refused."))
    .sort()
    .map((name) => [name, /203\.\d+\.\d+\.(\d+)/.exec(readFileSync(join(dir.path, name), "utf8"))?.[1]]);
  expect(hosts).toEqual([
    ...Array.from({ length: 9 }, (_, at) => [`settings.refused.${at + 1}.toml`, `${11 - at}`]),
    ["settings.refused.toml", "12"],
  ]);
  // A kill after the copy repeats it.
  refuse("203.0.113.12");
  expect(readFileSync(join(dir.path, "settings.refused.1.toml"), "utf8")).toContain("203.0.113.11");
});

describe("a file of the page that is not valid at a start", () => {
  const inputOf = (dir: string, flags: ArgvFlags = {}): ConfigInput => ({
    argvFlags: { dataDir: dir, ...flags },
    env: {},
    readFile: readSmallFile,
    cwd: dir,
  });
  function faultOf(input: ConfigInput): unknown {
    try {
      return loadConfig(input) && undefined;
    } catch (fault) {
      return fault;
    }
  }
  const withoutOf = (input: ConfigInput) => startWithoutInvalid(faultOf(input), input);

  test.each([
    ["a value out of its bounds", "[http]\nmax_ids = -5\nanonymous = false\n", ["http.max_ids"]],
    ["a setting of another version", "[http]\nanonymous = false\nfuture = 1\n", ["http.future"]],
    ["a section of another version", "[future]\na = 1\n[http]\nanonymous = false\n", ["future.a"]],
    ["what the page may not change", "[hub]\nadmin = true\n[http]\nanonymous = false\n", ["hub.admin"]],
    ["two that exclude each other", '[backup]\nat = "04:00"\n[http]\nanonymous = false\n', ["backup.at"]],
  ])("leaves what is valid of it in force: %s", (_, text, keys) => {
    using dir = tempDir();
    const path = join(dir.path, "settings.toml");
    writeFileSync(path, text);
    const without = withoutOf(inputOf(dir.path));
    expect(without).toMatchObject({ path, refused: { keys, file: join(dir.path, "settings.refused.toml") } });
    if (!without) throw new Error("nothing to go back to");
    keepWithout(path, without);
    expect(readFileSync(without.refused.file, "utf8")).toBe(text);
    expect(loadConfig(inputOf(dir.path)).config.http.anonymous).toBe(false);
  });

  test.each([
    ["no TOML", "[http\nmax_ids = 50", 60],
    ["a section that is none", "http = 3\n", 60],
    ["a list in place of a section", "[[http]]\nmax_ids = 50\n", 60],
    ["a wrong value of what protects it", '[http]\nanonymous = "no"\nmax_ids = 50\n', 60],
  ])(
    "keeps what protects the node as the last start had it, where the file does not say it: %s",
    (_, text, maxIds) => {
      using dir = tempDir();
      const path = join(dir.path, "settings.toml");
      writeFileSync(
        path,
        `[http]\nanonymous = false\nmax_ids = ${maxIds}\n[notify]\nmax_channels_per_owner = 0\n`,
      );
      noteStarted(path);
      writeFileSync(path, `${text}\n`);
      const without = withoutOf(inputOf(dir.path));
      if (!without) throw new Error("nothing to go back to");
      keepWithout(path, without);
      const { http } = loadConfig(inputOf(dir.path)).config;
      expect([http.anonymous, http.max_ids]).toEqual([false, maxIds]);
    },
  );

  test("does not bring back what the file says no longer", () => {
    using dir = tempDir();
    const path = join(dir.path, "settings.toml");
    writeFileSync(path, '[http]\nanonymous = false\n[log]\nlevel = "warn"\n');
    noteStarted(path);
    writeFileSync(path, '[log]\nlevel = "loud"\n');
    const without = withoutOf(inputOf(dir.path));
    expect(without?.text).toContain('level = "warn"');
    expect(without?.text).not.toContain("anonymous");
    expect(without?.refused.keys).toEqual(["log.level"]);
  });

  test("gives way to the settings of the last start where it is not TOML, and to none where those are not valid either", () => {
    using dir = tempDir();
    const path = join(dir.path, "settings.toml");
    writeFileSync(path, "[http]\nanonymous = false\nmax_ids = 60\n");
    noteStarted(path);
    writeFileSync(path, "[http\nanonymous = fal");
    expect(withoutOf(inputOf(dir.path))?.text).toContain("max_ids = 60");
    writeFileSync(join(dir.path, "settings.started.toml"), "[http]\nmax_ids = -1\n");
    const without = withoutOf(inputOf(dir.path));
    expect(without?.text).not.toContain("max_ids");
    expect(without?.refused.keys).toEqual([path]);
  });

  test("stays where the fault is in the settings file, in a flag, or in a settings file of the same name", () => {
    using dir = tempDir();
    const path = join(dir.path, "settings.toml");
    writeFileSync(path, "[http]\nmax_ids = 60\n");
    const own = join(dir.path, "svc.toml");
    writeFileSync(own, "[http]\nmax_ids = -1\n");
    expect(withoutOf(inputOf(dir.path, { config: own }))).toBeUndefined();
    expect(withoutOf(inputOf(dir.path, { set: ["http.max_ids=-1"] }))).toBeUndefined();
    writeFileSync(path, "[http]\nmax_ids = -1\n");
    expect(withoutOf(inputOf(dir.path, { config: path }))).toBeUndefined();
    expect(withoutOf(inputOf(dir.path, { set: ["http.max_ids=-1"] }))).toBeUndefined();
  });

  test("is not waited for where it is a pipe, a device or a link to one: the others count, and a warning says so", () => {
    for (const make of [
      (path: string) => void Bun.spawnSync(["mkfifo", path]),
      (path: string) => {
        Bun.spawnSync(["mkfifo", `${path}.pipe`]);
        symlinkSync(`${path}.pipe`, path);
      },
      (path: string) => symlinkSync("/dev/zero", path),
    ]) {
      using dir = tempDir();
      const path = join(dir.path, "settings.toml");
      make(path);
      const { warnings } = loadConfig(inputOf(dir.path));
      expect(warnings).toEqual([`${path} cannot be read: it is not a regular file`]);
      expect(startWithout(path, new Error("cannot listen"))).toBeUndefined();
      expect(() => noteStarted(path)).toThrow("not a regular file");
    }
  });

  test("that cannot be read leaves what protects the node as the last start had it", () => {
    using dir = tempDir();
    const path = join(dir.path, "settings.toml");
    writeFileSync(path, "[http]\nanonymous = false\n");
    noteStarted(path);
    rmSync(path);
    mkdirSync(path);
    const { config, warnings } = loadConfig(inputOf(dir.path));
    expect(config.http.anonymous).toBe(false);
    expect(warnings).toEqual([
      `${path} cannot be read: it is not a regular file. The settings of the last start count instead`,
    ]);
  });
});
