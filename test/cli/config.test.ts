import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultConfigText } from "../../src/config/load.ts";
import { emptyDir, run } from "./run.ts";

test("config defaults prints the reference, which is itself a valid settings file", async () => {
  using dir = emptyDir();
  const { exitCode, out } = await run(["config", "defaults"], { cwd: dir.path });
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: defaultConfigText() });
  writeFileSync(join(dir.path, "svc.toml"), out);
  const check = await run(["config", "check"], { cwd: dir.path });
  expect(check).toMatchObject({
    exitCode: 0,
    out: `The settings are valid (${join(dir.path, "svc.toml")}).\n`,
  });
});

test("config print shows the merged settings of file, environment and flags with their sources, secrets masked", async () => {
  using dir = emptyDir();
  writeFileSync(join(dir.path, "svc.toml"), "[http]\nport = 1\nmax_ids = 10\n[log]\nlevel = 'warn'");
  writeFileSync(join(dir.path, "rpc"), "https://me:hunter2@eth.example/v2/apikey\n");
  const env = { SVC_HTTP_PORT: "2", SVC_CHAIN_L1_RPC_URL_FILE: join(dir.path, "rpc") };
  const place = { cwd: dir.path, env };
  const flags = ["--port", "3", "--set", "net.allow_cidrs=10.0.0.0/8,fd00::/8", "--set", "hub.port=0"];
  // Global flags are valid before or after the command.
  const before = await run([...flags, "config", "print"], place);
  const after = await run(["config", "print", ...flags], place);
  expect(after).toEqual(before);
  expect(before).toMatchObject({ exitCode: 0, errors: "" });
  for (const line of [
    "port = 3 # --port",
    `max_ids = 10 # ${join(dir.path, "svc.toml")}`,
    'allow_cidrs = ["10.0.0.0/8", "fd00::/8"] # --set',
    "port = 0 # --set",
    'l1_rpc_url = "https://***@eth.example/***" # file of SVC_CHAIN_L1_RPC_URL_FILE',
    'host = "127.0.0.1" # default',
  ]) {
    expect(before.out.split("\n")).toContain(line);
  }
  expect(before.out).not.toMatch(/hunter2|apikey/);
  const json = await run(["config", "print", "--json", ...flags], place);
  expect(JSON.parse(json.out)).toMatchObject({
    http: { port: 3, max_ids: 10 },
    chain: { l1_rpc_url: "https://***@eth.example/***" },
  });
});

test.each(["config print", "config check", "healthcheck --live", "app list --fid 3"])(
  "a command logs which settings file it has read: %s",
  async (command) => {
    using dir = emptyDir();
    const file = join(dir.path, "svc.toml");
    writeFileSync(file, "[http]\nport = 1");
    const { errors } = await run(command.split(" "), { cwd: dir.path });
    const [line = ""] = errors.split("\n");
    expect(JSON.parse(line)).toMatchObject({ level: "info", file, msg: "Read the settings" });
  },
);

test("every common flag sets its setting", async () => {
  const flags = [
    "--data-dir",
    "/d",
    "--host",
    "::1",
    "--port",
    "9",
    "--log-level",
    "debug",
    "--log-format",
    "pretty",
  ];
  const { out } = await run(["config", "print", "--json", ...flags]);
  expect(JSON.parse(out)).toMatchObject({
    data: { dir: "/d" },
    http: { host: "::1", port: 9 },
    log: { level: "debug", format: "pretty" },
  });
});

test.each([[["config", "check"]], [["config", "print"]]])(
  "%j reports all invalid settings at once on standard error and exits with 1",
  async (args) => {
    using dir = emptyDir();
    writeFileSync(join(dir.path, "my.toml"), "[http]\nmax_ids = 0\n[htpt]\nport = 1");
    const { exitCode, out, errors } = await run([...args, "-c", "my.toml", "--port", "x"], {
      cwd: dir.path,
      env: { SVC_HUB_PROT: "1" },
    });
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: "" });
    expect(errors).toStartWith("error: 4 settings are wrong:\n");
    for (const key of ["http.max_ids", "htpt", "http.port", "SVC_HUB_PROT"])
      expect(errors).toContain(`\n  ${key}: `);
    expect(errors).toContain(join(dir.path, "my.toml"));
    expect(errors).not.toContain("    at ");
  },
);

test("rejects a settings file that is too large or a directory, and names it", async () => {
  using dir = emptyDir();
  const big = join(dir.path, "big.toml");
  writeFileSync(big, `# ${"x".repeat(1024 * 1024)}`);
  for (const [path, reason] of [
    [big, "larger than"],
    [dir.path, "EISDIR"],
  ] as const) {
    const { exitCode, errors } = await run(["config", "check", "--config", path]);
    expect(exitCode).toBe(1);
    expect(errors).toContain(path);
    expect(errors).toContain(reason);
  }
});
