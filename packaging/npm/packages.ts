import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { description, license } from "../../package.json" with { type: "json" };
import { version } from "../../src/version.ts";
import { stageIn } from "../stage-files.ts";

const ROOT = join(import.meta.dir, "../..");
const LAUNCHER = "launcher.mjs";

/** URLs of the sources and of the bug tracker. */
export interface Origin {
  readonly repository?: string;
  readonly bugs?: string;
}

export interface NpmPackages {
  /** Such as `@svc`. The packages are then `@svc/node` and, for each target, `@svc/node-<target>`. */
  readonly scope: string;
  /** Path of the program by target, such as `linux-x64-musl`. */
  readonly programs: ReadonlyMap<string, string>;
  /** Must exist. */
  readonly outdir: string;
  readonly origin: Origin;
}

/**
 * Packs the program for npm: one package per target, which npm installs if its `os`, `cpu` and `libc` match, and the launcher, which
 * depends on all of them and starts the one for its machine. No package has an install script, because pnpm and Bun would not run it.
 * Both programs for linux-x64 are installed, because npm does not know which instructions the processor supports.
 *
 * @returns the paths of the packages in publishing order: the launcher last, after all packages that it depends on.
 */
export function packNpm(options: NpmPackages): string[] {
  const { scope, programs, outdir, origin } = options;
  const launcher = `${scope}/node`;
  const platforms = [...programs].map(([target, program]) => {
    const [os = "", cpu = ""] = target.split("-");
    const manifest = {
      ...common(`${launcher}-${target}`, origin),
      description: `The program of ${launcher} for ${target}`,
      os: [os],
      cpu: [cpu],
      ...(os === "linux" && { libc: [target.includes("-musl") ? "musl" : "glibc"] }),
      // Otherwise Yarn would try to run it from inside an archive.
      preferUnplugged: true,
      files: ["svc"],
    };
    const readme = `# ${manifest.name}\n\n${manifest.description}. Install [${launcher}](https://www.npmjs.com/package/${launcher}), which depends on it.\n`;
    return pack(outdir, manifest, readme, (stage) => stage.copy(program, "svc", 0o755));
  });
  const manifest = {
    ...common(launcher, origin),
    description,
    type: "module",
    bin: { svc: LAUNCHER },
    engines: { node: ">=18" },
    files: [LAUNCHER],
    optionalDependencies: Object.fromEntries(
      [...programs.keys()].map((target) => [`${launcher}-${target}`, version]),
    ),
  };
  const script = readFileSync(join(import.meta.dir, LAUNCHER), "utf8");
  const readme = `# ${launcher}\n\n${description}.\n\n\`\`\`sh\nnpx ${launcher} serve --demo\n\`\`\`\n`;
  return [...platforms, pack(outdir, manifest, readme, (stage) => stage.write(LAUNCHER, script, 0o755))];
}

/** Returns the file name that `npm pack` gives a package. */
export function packageFile(name: string): string {
  return `${name.replace(/^@/, "").replace("/", "-")}-${version}.tgz`;
}

function common(name: string, { repository, bugs }: Origin) {
  return {
    name,
    version,
    license,
    ...(repository && { repository: { type: "git", url: `git+${repository}.git` } }),
    ...(bugs && { bugs: { url: bugs } }),
  };
}

function pack(
  outdir: string,
  manifest: { readonly name: string },
  readme: string,
  fill: (stage: ReturnType<typeof stageIn>) => void,
): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-npm-"));
  try {
    const stage = stageIn(join(folder, "package"));
    stage.write("package.json", `${JSON.stringify(manifest, null, 2)}\n`);
    stage.write("README.md", readme);
    stage.copy(join(ROOT, "LICENSE"), "LICENSE");
    fill(stage);
    const file = join(outdir, packageFile(manifest.name));
    packFolder(folder, "package", file);
    return file;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes one folder as a compressed archive whose files belong to root. */
export function packFolder(parent: string, folder: string, file: string): void {
  const { success, stderr } = Bun.spawnSync(
    ["tar", "--owner=0", "--group=0", "-C", parent, "-czf", file, folder],
    { stderr: "pipe" },
  );
  if (!success) throw new Error(`tar failed: ${stderr.toString()}`);
}
