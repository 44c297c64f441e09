import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { clientSharesTable } from "../../bench/client-shares.ts";
import { writeRecords } from "../../src/import/write-records.ts";
import { configWith } from "../runtime/config.ts";
import { exampleEnv, inCheckout } from "../support/document-shell.ts";
import { documentExample, documentText, ROOT } from "../support/documents.ts";
import { accountRecords } from "../support/node.ts";
import { tempDir } from "../support/program.ts";

const isMissing = (tool: string) => Bun.which(tool) === null;

/** Runs an installed tool that validates a configuration; returns its messages when it fails. */
function refusalOf(command: readonly string[], cwd: string): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd });
  return exitCode === 0 ? "" : `${stdout}${stderr}`;
}

test("the import and export commands import a file, verify the result and export it again", async () => {
  using dir = tempDir();
  await writeRecords(
    join(dir.path, "records.bin"),
    [1, 3].flatMap((fid) => accountRecords(fid)),
  );
  const run = (example: string) => {
    const command = ["sh", "-e", "-c", inCheckout(example)];
    const { exitCode, stdout } = Bun.spawnSync(command, { cwd: dir.path, env: exampleEnv(dir.path) });
    return [exitCode, stdout.toString()];
  };
  expect(run(documentExample("import"))).toEqual([0, expect.stringContaining("6 on-chain events")]);
  const [exitCode, out] = run(documentExample("export"));
  expect({ exitCode, lines: String(out).trim().split("\n") }).toEqual({
    exitCode: 0,
    lines: [
      expect.stringMatching(/^8 records, \d+ bytes: everything\.bin$/),
      expect.stringMatching(/^4 records, \d+ bytes: two-accounts\.bin$/),
    ],
  });
}, 180_000);

test("the commands of backup, restore and snapshot work in the documented order", async () => {
  using dir = tempDir();
  await writeRecords(join(dir.path, "records.bin"), accountRecords(1));
  const here = (script: string) =>
    inCheckout(script.replaceAll(/^svc /gm, "./dist/svc "))
      .replaceAll("/var/lib/", `${dir.path}/`)
      .replaceAll("/backup", `${dir.path}/backup`);
  const sh = (script: string) => {
    const { exitCode, stdout, stderr } = Bun.spawnSync(["sh", "-e", "-c", script], {
      cwd: dir.path,
      env: exampleEnv(dir.path),
    });
    if (exitCode !== 0) throw new Error(stderr.toString());
    return stdout.toString();
  };
  sh(here("svc --data-dir /var/lib/svc import records.bin"));
  const listed = sh(here(documentExample("backup")))
    .trim()
    .split("\n")
    .slice(-2);
  expect(listed).toEqual([expect.stringMatching(/^\d{8}T\d{6}Z$/), expect.stringMatching(/Z-state$/)]);
  const restored = sh(here(documentExample("restore")).replace("20261122T031500Z", listed[0] ?? ""));
  expect(restored).toContain("The state satisfies its invariants.");
  expect(sh(here(documentExample("snapshot")))).toContain("Restored index into");
  const bucket = Bun.TOML.parse(documentExample("backup bucket")) as { backup: Record<string, unknown> };
  const credentials = ["backup.access_key_id=AKIA", "backup.secret_access_key=secret"];
  const inBucket = Object.entries(bucket.backup).map(([name, value]) => `backup.${name}=${value}`);
  expect(configWith(...inBucket, ...credentials).backup).toMatchObject(bucket.backup);
  const { backup } = Bun.TOML.parse(documentExample("backup settings")) as {
    backup: Record<string, unknown>;
  };
  const settings = Object.entries(backup).map(([key, value]) => `backup.${key}=${value}`);
  expect(configWith(...settings).backup).toMatchObject(backup);
}, 180_000);

test("the documented record of an import file matches the wire definition", async () => {
  const squeezed = (text: string) => text.replaceAll(/\/\/.*|\s+/g, " ").replaceAll(/ +/g, " ");
  const definitions = await Bun.file(join(ROOT, "src/protocol/wire/hub.proto")).text();
  expect(squeezed(definitions)).toContain(squeezed(documentExample("import record")));
});

test("the documented systemd unit is that of the packages", async () => {
  const unit = documentExample("systemd unit");
  expect(`${unit}\n`).toBe(await Bun.file(join(ROOT, "packaging/svc.service")).text());
});

describe.skipIf(isMissing("systemd-analyze"))("systemd", () => {
  async function unitIn(dir: string): Promise<void> {
    const unit = await Bun.file(join(ROOT, "packaging/svc.service")).text();
    await Bun.write(join(dir, "svc.service"), unit.replaceAll("/usr/local/bin/svc", process.execPath));
  }

  test("accepts the unit", async () => {
    using dir = tempDir();
    await unitIn(dir.path);
    expect(refusalOf(["systemd-analyze", "--man=no", "verify", "./svc.service"], dir.path)).toBe("");
  });

  test("rates its exposure as low", async () => {
    using dir = tempDir();
    await unitIn(dir.path);
    const rate = ["systemd-analyze", "security", "--offline=true", "--threshold=20", "./svc.service"];
    expect(Bun.spawnSync(rate, { cwd: dir.path }).exitCode).toBe(0);
  });
});

test("docs/operate/capacity.md has the table of what one client may use, as the node counts", () => {
  expect(documentText("docs/operate/capacity.md")).toContain(clientSharesTable());
});
