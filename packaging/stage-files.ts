import { chmodSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createProgram } from "../src/cli/program.ts";
import { commandTree } from "../src/cli/shell/command-tree.ts";
import { bashCompletion, fishCompletion, zshCompletion } from "../src/cli/shell/completion.ts";
import { examplesOf } from "../src/cli/shell/examples.ts";
import { manPage } from "../src/cli/shell/man-page.ts";
import { programName, version } from "../src/version.ts";

const ROOT = join(import.meta.dir, "..");

/** Files that every package contains next to the program. Paths are relative to the root of the checkout. */
const LICENSE = "LICENSE";
const CHANGELOG = "CHANGELOG.md";
const UNIT = "packaging/svc.service";
const SETTINGS = "packaging/svc.toml";
const MONITORING = "packaging/monitoring";

/** Writes files below a folder, and creates their parent folders. */
export interface Stage {
  /** Writes text or bytes to a path below the folder. */
  write(path: string, content: string | Uint8Array, mode?: number): void;
  /** Copies a file of this machine. */
  copy(from: string, path: string, mode?: number): void;
}

export function stageIn(folder: string): Stage {
  const target = (path: string) => {
    const full = join(folder, path);
    mkdirSync(dirname(full), { recursive: true, mode: 0o755 });
    return full;
  };
  return {
    write(path, content, mode = 0o644) {
      writeFileSync(target(path), content);
      chmodSync(target(path), mode);
    },
    copy(from, path, mode = 0o644) {
      cpSync(from, target(path));
      chmodSync(target(path), mode);
    },
  };
}

/**
 * Returns the files that are generated from the program's commands: completions and the manual page. `date` is the day of the release.
 */
export function generatedFiles(date: string): { bash: string; zsh: string; fish: string; manPage: string } {
  const root = commandTree(createProgram().program);
  return {
    bash: bashCompletion(programName, root),
    zsh: zshCompletion(programName, root),
    fish: fishCompletion(programName, root),
    manPage: manPage({ program: programName, version, date, root, examplesOf }),
  };
}

/** Adds the files that Prometheus and Grafana need for a node on the same machine. */
async function stageMonitoring(stage: Stage, folder: string): Promise<void> {
  const from = join(ROOT, MONITORING);
  const prometheus = await Bun.file(join(from, "prometheus.yml")).text();
  stage.write(`${folder}/prometheus.yml`, prometheus.replace("svc:8080", "127.0.0.1:8080"));
  for (const file of ["rules.yml", "grafana-dashboard.json"])
    stage.copy(join(from, file), `${folder}/${file}`);
}

/** Returns the systemd unit for a program at this path. */
export async function unitFor(programPath: string): Promise<string> {
  return (await Bun.file(join(ROOT, UNIT)).text()).replaceAll("/usr/local/bin/svc", programPath);
}

/** Returns the unit template for several nodes on one machine: `svc@a` reads /etc/svc/a.toml and stores its data in /var/lib/svc-a. */
export async function instanceUnitFor(programPath: string): Promise<string> {
  return (await unitFor(programPath))
    .replace("Description=svc", "Description=svc %i")
    .replace("SVC_DATA_DIR=/var/lib/svc", "SVC_DATA_DIR=/var/lib/svc-%i")
    .replace(" serve --migrate", " --config /etc/svc/%i.toml serve --migrate")
    .replace("StateDirectory=svc", "StateDirectory=svc-%i");
}

/** Copies the files of an archive into a folder, next to the program. */
export async function stageArchive(stage: Stage, binary: string, date: string): Promise<void> {
  const generated = generatedFiles(date);
  stage.copy(binary, programName, 0o755);
  for (const file of [LICENSE, CHANGELOG]) stage.copy(join(ROOT, file), file);
  stage.copy(join(ROOT, SETTINGS), "svc.toml");
  stage.write("svc.service", await unitFor("/usr/local/bin/svc"));
  stage.write("svc@.service", await instanceUnitFor("/usr/local/bin/svc"));
  stage.write("svc.1", generated.manPage);
  await stageMonitoring(stage, "monitoring");
  stage.write("completions/svc.bash", generated.bash);
  stage.write("completions/_svc", generated.zsh);
  stage.write("completions/svc.fish", generated.fish);
}

/** Creates the file tree of the Debian package in a folder. */
export async function stageDebian(stage: Stage, binary: string, date: string): Promise<void> {
  const generated = generatedFiles(date);
  const gzip = (text: string) => Bun.gzipSync(new TextEncoder().encode(text), { level: 9 });
  stage.copy(binary, "usr/bin/svc", 0o755);
  stage.write("usr/lib/systemd/system/svc.service", await unitFor("/usr/bin/svc"));
  stage.write("usr/lib/systemd/system/svc@.service", await instanceUnitFor("/usr/bin/svc"));
  stage.copy(join(ROOT, SETTINGS), "etc/svc/svc.toml");
  stage.write("usr/share/man/man1/svc.1.gz", gzip(generated.manPage));
  stage.write("usr/share/bash-completion/completions/svc", generated.bash);
  stage.write("usr/share/zsh/vendor-completions/_svc", generated.zsh);
  stage.write("usr/share/fish/vendor_completions.d/svc.fish", generated.fish);
  await stageMonitoring(stage, "usr/share/svc/monitoring");
  stage.copy(join(ROOT, LICENSE), "usr/share/doc/svc/copyright");
  stage.write("usr/share/doc/svc/changelog.gz", gzip(await Bun.file(join(ROOT, CHANGELOG)).text()));
}
