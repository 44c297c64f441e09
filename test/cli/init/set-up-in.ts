import { mkdirSync, writeFileSync } from "node:fs";
import { createSetUp } from "../../../src/cli/init/set-up.ts";
import { readSmallFile } from "../../../src/config/files/small-file.ts";
import { loadConfig } from "../../../src/config/load.ts";
import type { SetUpWish } from "../../../src/console/setup/set-up.ts";
import { reasonOf } from "../../../src/lib/failure.ts";

/** The set-up of a node with a settings file in a directory of its own. */
export function setUpIn(dir: string, text: string | undefined, env: Record<string, string> = {}) {
  const file = `${dir}/svc.toml`;
  if (text !== undefined) writeFileSync(file, text);
  mkdirSync(`${dir}/data`, { recursive: true });
  const argvFlags = { dataDir: `${dir}/data`, ...(text !== undefined && { config: file }) };
  const loaded = loadConfig({ argvFlags, env, readFile: readSmallFile, cwd: dir });
  const applied: boolean[] = [];
  const onApplied = ({ isDemo }: { isDemo: boolean }) => void applied.push(isDemo);
  return { file, applied, setUp: createSetUp({ loaded, given: { argvFlags, env }, onApplied, cwd: dir }) };
}

/** The wish for everything that a node has. */
export const all = (urls: readonly string[]): SetUpWish => ({ scope: { kind: "all" }, urls });

/** The set-up of a node with a settings file that it only reads, and the data directory of its environment. */
function setUpBy(config: string, dataDir: string) {
  const given = { argvFlags: { config }, env: { SVC_DATA_DIR: dataDir } };
  const loaded = loadConfig({ ...given, readFile: readSmallFile, cwd: "/" });
  return { setUp: createSetUp({ loaded, given, onApplied: () => undefined, cwd: "/" }) };
}

/** What a set-up says, as another user or on another disk: `bun set-up-in.ts <directory> <url> [<settings file>]`. */
export interface SetUpReport {
  readonly note: string | undefined;
  readonly files: readonly string[] | undefined;
  /** What the checks found to be wrong. */
  readonly faults: readonly string[];
  readonly refusal: string | undefined;
}

if (import.meta.main) {
  const [dir = "", url = "", config] = process.argv.slice(2);
  const { setUp } = config === undefined ? setUpIn(dir, undefined) : setUpBy(config, `${dir}/data`);
  const { note, files, findings = [] } = await setUp.check(all([url]));
  const refusal = await setUp.apply(all([url])).then(() => undefined, reasonOf);
  const report: SetUpReport = {
    note,
    files: files?.map(({ path }) => path),
    faults: findings.filter(({ level }) => level === "fail").map(({ check, text }) => `${check}: ${text}`),
    refusal,
  };
  process.stdout.write(JSON.stringify(report));
  process.exit();
}
