import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { description } from "../package.json" with { type: "json" };
import { version } from "../src/version.ts";
import { stageDebian, stageIn } from "./stage-files.ts";

export type DebianArchitecture = "amd64" | "arm64";

/**
 * Builds `svc_<version>_<architecture>.deb` in a folder with dpkg-deb. Files belong to root.
 * @throws Error if dpkg-deb is missing or fails
 */
export async function buildDeb(options: {
  readonly binary: string;
  readonly architecture: DebianArchitecture;
  readonly outdir: string;
  readonly date: string;
  /** Tests use uncompressed packages. */
  readonly compressed?: boolean;
  /** Version of the package. Default: the version of the program. */
  readonly packageVersion?: string;
  /** URL of the sources. */
  readonly homepage?: string | undefined;
}): Promise<string> {
  const {
    binary,
    architecture,
    outdir,
    date,
    compressed = true,
    packageVersion = version,
    homepage,
  } = options;
  const root = mkdtempSync(join(tmpdir(), "svc-deb-"));
  try {
    chmodSync(root, 0o755);
    await stageDebian(stageIn(root), binary, date);
    const control = join(root, "DEBIAN");
    mkdirSync(control);
    for (const script of ["preinst", "postinst", "prerm", "postrm"])
      writeFileSync(join(control, script), withIncludes(script), { mode: 0o755 });
    writeFileSync(join(control, "conffiles"), "/etc/svc/svc.toml\n");
    const fields = { architecture, packageVersion, bytes: Bun.file(binary).size, homepage };
    writeFileSync(join(control, "control"), controlFile(fields));
    const file = join(outdir, `svc_${packageVersion}_${architecture}.deb`);
    const compression = compressed ? ["-Zxz", "-z1"] : ["-Znone"];
    const built = Bun.spawnSync(["dpkg-deb", "--root-owner-group", ...compression, "--build", root, file], {
      stderr: "pipe",
    });
    if (!built.success) throw new Error(`dpkg-deb failed: ${built.stderr.toString()}`);
    return file;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Returns a script of the package with its includes expanded: parts that several scripts share are in separate files. */
function withIncludes(script: string): string {
  const read = (name: string) => readFileSync(join(import.meta.dir, "debian", name), "utf8");
  return read(script).replace(/^#include (\S+)$/gm, (_, name: string) => read(name).trimEnd());
}

function controlFile(options: {
  readonly architecture: DebianArchitecture;
  readonly packageVersion: string;
  readonly bytes: number;
  readonly homepage: string | undefined;
}): string {
  const { architecture, packageVersion, bytes, homepage } = options;
  const fields: Readonly<Record<string, string>> = {
    Package: "svc",
    Version: packageVersion,
    Architecture: architecture,
    Maintainer: "svc maintainers <maintainers@svc.invalid>",
    "Installed-Size": `${Math.ceil(bytes / 1024)}`,
    Depends: "libc6 (>= 2.31), adduser, init-system-helpers (>= 1.52)",
    Section: "net",
    Priority: "optional",
    ...(homepage && { Homepage: homepage }),
    Description: `${description}\n One executable with everything inside. It runs as the user svc, keeps its data in /var/lib/svc and\n reads /etc/svc/svc.toml.`,
  };
  return `${Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n")}\n`;
}
