import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { claimNetwork } from "../../src/db/index/identity.ts";
import { createIndex, createState } from "../support/empty-databases.ts";
import { emptyDir, run } from "./run.ts";

const INVALID = '[http]\nmax_ids = -5\n[log]\nlevel = "warn"\n';
const STARTED = "[http]\nmax_ids = 60\nanonymous = false\n";

/** A data directory with databases, and with a file of the operator's page that is not valid. */
function openDamaged() {
  const home = emptyDir();
  const dataDir = join(home.path, "data");
  mkdirSync(dataDir, { mode: 0o700 });
  using index = createIndex(dataDir);
  claimNetwork(index, "mainnet");
  using _ = createState(dataDir);
  writeFileSync(join(dataDir, "settings.toml"), INVALID);
  writeFileSync(join(dataDir, "settings.started.toml"), STARTED);
  return {
    path: home.path,
    command: (...args: string[]) =>
      run([...args, "--data-dir", dataDir, "--set", "http.port=0", "--set", "hub.port=0"], {
        cwd: home.path,
      }),
    [Symbol.dispose]: () => home[Symbol.dispose](),
  };
}

test("a backup is made while the page's settings are not valid, with a warning, and has their file as it is", async () => {
  using damaged = openDamaged();
  const { exitCode, out, errors } = await damaged.command("backup", "--to", join(damaged.path, "backups"));
  expect(errors).toContain("settings.toml is not valid");
  expect(errors).toContain("http.max_ids");
  expect(exitCode).toBe(0);
  const [place = ""] = out.split("\n");
  expect(JSON.parse(readFileSync(join(place, "manifest.json"), "utf8"))).toMatchObject({ settings: INVALID });
});

test("doctor examines a node whose page's settings are not valid, and names them as a finding", async () => {
  using damaged = openDamaged();
  const { out } = await damaged.command("doctor", "--json");
  const { findings } = JSON.parse(out) as { findings: { check: string; level: string; text: string }[] };
  const [settings] = findings.filter(({ check }) => check === "settings");
  expect(settings).toMatchObject({
    level: "warn",
    text: expect.stringMatching(/settings\.toml is not valid.*http\.max_ids/),
  });
  expect(findings.map(({ check }) => check)).toContain("index");
});

test("config print shows what a start would take; config check refuses the file", async () => {
  using damaged = openDamaged();
  const printed = await damaged.command("config", "print", "--json");
  expect(JSON.parse(printed.out)).toMatchObject({ http: { max_ids: 60 }, log: { level: "warn" } });
  const checked = await damaged.command("config", "check");
  expect(checked).toMatchObject({ exitCode: 1, out: "" });
  expect(checked.errors).toContain("http.max_ids");
});
