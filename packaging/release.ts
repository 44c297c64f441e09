/**
 * Builds all files of a release; `--help` lists the flags. For each target there is an archive with the program, its unit, completions
 * and manual page; for Linux also Debian packages; further SHA256SUMS, the bill of materials, and `install.sh`, which downloads from
 * `--download-url` and checks the signature with the public key next to `--minisign-key`, `<file>.pub`. The npm packages are written to
 * the folder `npm` in the outdir.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { version } from "../src/version.ts";
import { buildDeb, type DebianArchitecture } from "./deb.ts";
import { brewFormula, nixRelease } from "./formulas.ts";
import { type Origin, packageFile, packFolder, packNpm } from "./npm/packages.ts";
import { changedMigrations, raiseVersion } from "./raise-version.ts";
import { createSbom } from "./sbom.ts";
import { stageArchive, stageIn } from "./stage-files.ts";

const ROOT = join(import.meta.dir, "..");
const TARGETS = [
  "linux-x64",
  // For processors without AVX2.
  "linux-x64-baseline",
  "linux-x64-musl",
  "linux-x64-musl-baseline",
  "linux-arm64",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
];
/** Matches the names of the files of a release. */
const MADE =
  /^(svc-\d.*\.(tar\.gz|cdx\.json)|svc_\d.*\.deb|install\.sh|svc\.rb|release\.json|NOTES\.md|SHA256SUMS(\.minisig)?)$/;
const MADE_FOR_NPM = /^[a-z0-9._-]+-(node|node-[a-z0-9-]+|client)-\d+\.\d+\.\d+\.tgz$/;
const DEBIAN: Readonly<Record<string, DebianArchitecture>> = { "linux-x64": "amd64", "linux-arm64": "arm64" };

/** Reads the flags. Prints which one is wrong, in one line. */
function readFlags() {
  try {
    return parseArgs({ options: FLAGS }).values;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${HELP}`);
    process.exit(2);
  }
}

const FLAGS = {
  help: { type: "boolean", short: "h", default: false },
  targets: { type: "string", default: TARGETS.join(",") },
  outdir: { type: "string", default: "dist/release" },
  "download-url": { type: "string", default: "" },
  binaries: { type: "string" },
  repository: { type: "string" },
  bugs: { type: "string" },
  version: { type: "string" },
  "npm-scope": { type: "string", default: "@svc" },
  "minisign-key": { type: "string" },
  "no-packages": { type: "boolean", default: false },
  date: { type: "string", default: new Date().toISOString() },
} as const;
const HELP = `bun run release [flags]      make the files of a release
bun run release --version X  raise the version, and end

  --targets <list>       of ${TARGETS.join(", ")}; default: all
  --outdir <dir>         default: dist/release
  --binaries <dir>       programs that were built before, as svc-<target>; default: they are built
  --download-url <url>   where install.sh finds the files; default: SVC_DOWNLOAD_URL when it runs
  --repository <url>     where the sources are
  --bugs <url>           where to report bugs; default: the issues of the repository
  --npm-scope <scope>    default: @svc
  --minisign-key <file>  signs SHA256SUMS, with a key without a password (minisign -GW)
  --no-packages          no Debian packages
  --date <time>          of the release (ISO 8601); default: now
`;
const values = readFlags();
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
if (values.version !== undefined) {
  await raiseVersion(ROOT, { version: values.version, date: values.date.slice(0, 10) });
  process.stdout.write(
    `The version is ${values.version}. Review CHANGELOG.md, commit, and tag v${values.version}.\n`,
  );
  process.exit(0);
}
const changed = await changedMigrations(ROOT);
if (changed.length > 0) throw new Error(`migrations of a release have changed: ${changed.join(", ")}`);
const origin = originOf(values);
const targets = values.targets.split(",").filter(Boolean);
const outdir = resolve(values.outdir);
const npmOutdir = join(outdir, "npm");
const npmScope = values["npm-scope"];
if (!/^@[a-z0-9][a-z0-9._-]*$/.test(npmScope)) throw new Error(`not a scope of npm: ${npmScope}`);
const day = values.date.slice(0, 10);
mkdirSync(outdir, { recursive: true });
// Files of an earlier release would be included in the checksums and published as part of this one.
for (const name of readdirSync(outdir)) if (MADE.test(name)) rmSync(join(outdir, name));
mkdirSync(npmOutdir, { recursive: true });
for (const name of readdirSync(npmOutdir)) if (MADE_FOR_NPM.test(name)) rmSync(join(npmOutdir, name));

const binaries = values.binaries ?? mkdtempSync(join(tmpdir(), "svc-binaries-"));
try {
  if (values.binaries === undefined) run([process.execPath, "build.ts", ...targets, "--outdir", binaries]);
  for (const target of targets) {
    const binary = join(binaries, `svc-${target}`);
    await archive(target, binary);
    const architecture = DEBIAN[target];
    if (architecture && !values["no-packages"])
      await buildDeb({ binary, architecture, outdir, date: day, homepage: origin.repository });
  }
  const programs = new Map(targets.map((target) => [target, join(binaries, `svc-${target}`)]));
  packNpm({ scope: npmScope, programs, outdir: npmOutdir, origin });
} finally {
  if (values.binaries === undefined) rmSync(binaries, { recursive: true, force: true });
}
clientPackage();
const sbom = await createSbom({ timestamp: values.date, ...origin });
writeFileSync(join(outdir, `svc-${version}.cdx.json`), `${JSON.stringify(sbom, null, 2)}\n`);
const installer = await Bun.file(join(import.meta.dir, "install.sh")).text();
writeFileSync(
  join(outdir, "install.sh"),
  installer
    .replace('DOWNLOAD_URL=""', `DOWNLOAD_URL="${values["download-url"]}"`)
    .replace('VERSION=""', `VERSION="${version}"`)
    .replace('PUBLIC_KEY=""', `PUBLIC_KEY="${await publicKey(values["minisign-key"])}"`),
  { mode: 0o755 },
);
if (values["download-url"] !== "") await writeFormulas(values["download-url"]);
writeFileSync(join(outdir, "NOTES.md"), notesOf(await Bun.file(join(ROOT, "CHANGELOG.md")).text()));
await writeSums();
if (values["minisign-key"] !== undefined)
  run([
    "minisign",
    "-S",
    "-s",
    resolve(values["minisign-key"]),
    "-m",
    join(outdir, "SHA256SUMS"),
    "-t",
    `svc ${version}`,
  ]);
process.stdout.write(`${readdirSync(outdir, { recursive: true }).sort().join("\n")}\n`);

/** Returns the URLs of the sources and bug tracker for the packages. Empty without `--repository`. */
function originOf({ repository, bugs }: Origin): Origin {
  for (const url of [repository, bugs])
    if (url !== undefined && URL.parse(url)?.protocol !== "https:")
      throw new Error(`not an https URL: ${url}`);
  const issues = bugs ?? (repository && `${repository}/issues`);
  return { ...(repository && { repository }), ...(issues && { bugs: issues }) };
}

/** Writes `svc-<version>-<target>.tar.gz`, which contains a single folder of the same name. */
async function archive(target: string, binary: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "svc-archive-"));
  const name = `svc-${version}-${target}`;
  try {
    await stageArchive(stageIn(join(folder, name)), binary, day);
    packFolder(folder, name, join(outdir, `${name}.tar.gz`));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Packs the typed client. */
function clientPackage(): void {
  const folder = mkdtempSync(join(tmpdir(), "svc-client-"));
  const name = `${npmScope}/client`;
  try {
    run([process.execPath, "client/build.ts", join(folder, "package"), JSON.stringify({ ...origin, name })]);
    packFolder(folder, "package", join(npmOutdir, packageFile(name)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the second line of the public key next to a secret one. Empty without a key. */
async function publicKey(secretKey: string | undefined): Promise<string> {
  if (secretKey === undefined) return "";
  const key = (await Bun.file(`${secretKey}.pub`).text()).trim().split("\n").at(-1) ?? "";
  if (!/^RW[\w+/]{54}$/.test(key)) throw new Error(`${secretKey}.pub is not a public key of minisign`);
  return key;
}

/** Returns the changelog section of this version, without its heading. */
function notesOf(changelog: string): string {
  const [, section = ""] =
    new RegExp(`^## ${version.replaceAll(".", "\\.")}\\b.*\\n([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, "m").exec(
      changelog,
    ) ?? [];
  return `${section.trim()}\n`;
}

/** Writes the Homebrew formula and the hashes for the Nix flake, which refer to the archives by URL. */
async function writeFormulas(downloadUrl: string): Promise<void> {
  const hashes = new Map(
    await Promise.all(
      targets.map(async (target) => {
        const path = join(outdir, `svc-${version}-${target}.tar.gz`);
        return [
          target,
          new Bun.CryptoHasher("sha256").update(await Bun.file(path).bytes()).digest("hex"),
        ] as const;
      }),
    ),
  );
  const archives = { downloadUrl, hashes };
  writeFileSync(join(outdir, "svc.rb"), brewFormula(archives, origin.repository ?? downloadUrl));
  writeFileSync(join(outdir, "release.json"), nixRelease(archives));
}

/**
 * Writes the checksums of all other files in the format of `sha256sum -c`, except for npm packages, whose checksums npm registries keep.
 */
async function writeSums(): Promise<void> {
  const names = readdirSync(outdir).filter((name) => !name.startsWith("SHA256SUMS") && name !== "npm");
  const lines = await Promise.all(
    names.sort().map(async (name) => {
      const hash = new Bun.CryptoHasher("sha256").update(await Bun.file(join(outdir, name)).bytes());
      return `${hash.digest("hex")}  ${name}\n`;
    }),
  );
  writeFileSync(join(outdir, "SHA256SUMS"), lines.join(""));
}

function run(command: string[]): void {
  const { success } = Bun.spawnSync(command, { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"] });
  if (!success) throw new Error(`${command.join(" ")} failed`);
}
