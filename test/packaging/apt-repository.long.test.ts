import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildDeb } from "../../packaging/deb.ts";
import { ROOT } from "../support/documents.ts";
import { IS_LONG } from "../support/long.ts";
import { writePackagedProgram } from "./packaged-program.ts";

const isThere = IS_LONG && ["apt-get", "gpg", "dpkg-deb"].every((tool) => Bun.which(tool) !== null);
const architecture = process.arch === "arm64" ? "arm64" : "amd64";
// apt reads as a user of its own where it may.
const folder = mkdtempSync(join(tmpdir(), "svc-apt-"));
const repository = join(folder, "repository");
const GNUPGHOME = join(folder, "gnupg");
const KEY = "release@svc.invalid";
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(command: string[], env: Record<string, string> = {}): { exitCode: number; text: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, {
    cwd: ROOT,
    env: { ...process.env, GNUPGHOME, ...env },
  });
  return { exitCode, text: stdout.toString() + stderr.toString() };
}

async function publish(packageVersion: string): Promise<void> {
  const debs = join(folder, `debs-${packageVersion}`);
  mkdirSync(debs);
  const binary = writePackagedProgram(join(folder, "program"));
  await buildDeb({
    binary,
    architecture,
    outdir: debs,
    date: "2026-11-28",
    compressed: false,
    packageVersion,
  });
  const { exitCode, text } = run([
    ...[process.execPath, "packaging/apt-repository.ts", "--debs", debs],
    ...["--outdir", repository, "--gpg-key", KEY],
  ]);
  if (exitCode !== 0) throw new Error(text);
}

/** apt with no list but that of a repository, and state of its own. */
function apt(from: string, ...args: string[]): { exitCode: number; text: string } {
  const root = join(folder, "apt");
  for (const dir of ["lists/partial", "cache/archives/partial", "etc"])
    mkdirSync(join(root, dir), { recursive: true });
  writeFileSync(join(root, "status"), "");
  const keyring = join(repository, "svc-archive-keyring.asc");
  writeFileSync(join(root, "etc/svc.list"), `deb [signed-by=${keyring}] file://${from} stable main\n`);
  const settings = {
    "Dir::Etc::sourcelist": join(root, "etc/svc.list"),
    "Dir::Etc::sourceparts": "-",
    "Dir::State::lists": join(root, "lists"),
    "Dir::State::status": join(root, "status"),
    "Dir::Cache": join(root, "cache"),
    "APT::Sandbox::User": "root",
    "APT::Architecture": architecture,
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  return run(["apt-get", "-q", ...options, ...args]);
}

beforeAll(async () => {
  if (!isThere) return;
  mkdirSync(GNUPGHOME, { mode: 0o700 });
  const made = run([
    "gpg",
    "--batch",
    "--passphrase",
    "",
    "--quick-generate-key",
    KEY,
    "ed25519",
    "sign",
    "never",
  ]);
  if (made.exitCode !== 0) throw new Error(made.text);
  await publish("0.1.0");
  await publish("0.2.0");
}, 120_000);

describe.skipIf(!isThere)("a repository of static files", () => {
  test("is accepted by apt, which finds the newest package", () => {
    const updated = apt(repository, "update");
    expect([updated.exitCode, updated.text.includes("Err:")]).toEqual([0, false]);
    const { text } = apt(repository, "--print-uris", "download", "svc");
    expect(text).toContain(`pool/main/svc_0.2.0_${architecture}.deb`);
  });

  test("is refused when its list of packages, or what is signed of it, was changed", () => {
    for (const change of [
      (copy: string) => {
        const list = join(copy, `dists/stable/main/binary-${architecture}/Packages`);
        for (const ending of ["", ".gz"]) rmSync(`${list}${ending}`);
        writeFileSync(
          list,
          readFileSync(join(repository, `dists/stable/main/binary-${architecture}/Packages`), "utf8").replace(
            "0.2.0",
            "6.6.6",
          ),
        );
      },
      (copy: string) => {
        const signed = join(copy, "dists/stable/InRelease");
        writeFileSync(signed, readFileSync(signed, "utf8").replace("Label: svc", "Label: evil"));
        rmSync(join(copy, "dists/stable/Release.gpg"));
      },
    ]) {
      const copy = mkdtempSync(join(folder, "changed-"));
      cpSync(repository, copy, { recursive: true });
      change(copy);
      expect(apt(copy, "update").text).toMatch(
        /Hash Sum mismatch|unexpected size|not signed|invalid|BADSIG|isn't valid/,
      );
    }
  });
});
