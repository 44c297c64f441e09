/**
 * Builds an apt repository of static files: `bun packaging/apt-repository.ts --debs dist/release --outdir dist/apt --gpg-key <id>`.
 * Packages that are already in the outdir are kept. Any web server or bucket can serve the folder.
 */
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { parseArgs } from "node:util";

const ARCHITECTURES = ["amd64", "arm64"];
const SUITE = "stable";
const COMPONENT = "main";

const { values } = parseArgs({
  options: {
    debs: { type: "string" },
    outdir: { type: "string" },
    /** Id of the gpg key that signs. Its home is GNUPGHOME. */
    "gpg-key": { type: "string" },
    /** RFC 2822 or ISO 8601. Default: now. */
    date: { type: "string", default: new Date().toISOString() },
  },
});
const { debs, outdir, "gpg-key": key } = values;
if (!debs || !outdir || !key) throw new Error("give --debs, --outdir and --gpg-key");

const pool = join(outdir, "pool", COMPONENT);
const suite = join(outdir, "dists", SUITE);
mkdirSync(pool, { recursive: true });
for (const file of readdirSync(debs).filter((name) => name.endsWith(".deb")))
  copyFileSync(join(debs, file), join(pool, file));

const packages = readdirSync(pool)
  .filter((name) => name.endsWith(".deb"))
  .sort();
const files: string[] = [];
for (const architecture of ARCHITECTURES) {
  const folder = join(suite, COMPONENT, `binary-${architecture}`);
  mkdirSync(folder, { recursive: true });
  const own = packages.filter((name) => name.endsWith(`_${architecture}.deb`));
  const text = (await Promise.all(own.map((name) => entryOf(join(pool, name))))).join("\n");
  writeFileSync(join(folder, "Packages"), text);
  writeFileSync(join(folder, "Packages.gz"), Bun.gzipSync(new TextEncoder().encode(text), { level: 9 }));
  files.push(join(folder, "Packages"), join(folder, "Packages.gz"));
}
writeFileSync(join(suite, "Release"), await releaseOf(files));
for (const signature of ["InRelease", "Release.gpg"]) rmSync(join(suite, signature), { force: true });
gpg(["--clearsign", "--output", join(suite, "InRelease"), join(suite, "Release")]);
gpg(["--detach-sign", "--armor", "--output", join(suite, "Release.gpg"), join(suite, "Release")]);
writeFileSync(join(outdir, "svc-archive-keyring.asc"), run(["gpg", "--batch", "--armor", "--export", key]));

/** Returns the entry of a package in `Packages`. */
async function entryOf(path: string): Promise<string> {
  const fields = run(["dpkg-deb", "--field", path]).trim();
  const { size, hash } = await factsOf(path);
  return `${fields}\nFilename: ${join("pool", COMPONENT, basename(path))}\nSize: ${size}\nSHA256: ${hash}\n`;
}

async function releaseOf(paths: readonly string[]): Promise<string> {
  const lines = await Promise.all(
    paths.map(async (path) => {
      const { size, hash } = await factsOf(path);
      return ` ${hash} ${size} ${relative(suite, path)}`;
    }),
  );
  const fields = {
    Origin: "svc",
    Label: "svc",
    Suite: SUITE,
    Codename: SUITE,
    Date: new Date(values.date).toUTCString(),
    Architectures: ARCHITECTURES.join(" "),
    Components: COMPONENT,
  };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return `${[...head, "SHA256:", ...lines].join("\n")}\n`;
}

async function factsOf(path: string): Promise<{ readonly size: number; readonly hash: string }> {
  const bytes = await Bun.file(path).bytes();
  return { size: bytes.length, hash: new Bun.CryptoHasher("sha256").update(bytes).digest("hex") };
}

function gpg(args: readonly string[]): void {
  run(["gpg", "--batch", "--yes", "--local-user", key ?? "", "--digest-algo", "SHA256", ...args]);
}

function run(command: string[]): string {
  const { success, stdout, stderr } = Bun.spawnSync(command);
  if (!success) throw new Error(`${command[0]} failed: ${stderr.toString()}`);
  return stdout.toString();
}
