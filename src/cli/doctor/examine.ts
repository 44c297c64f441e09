import { existsSync, readdirSync } from "node:fs";
import { findRisks } from "../../config/checks/risks.ts";
import type { ConfigProblem } from "../../config/layers.ts";
import type { LoadedConfig } from "../../config/load.ts";
import type { Config } from "../../config/schema.ts";
import { SideDatabase } from "../../db/side/side-database.ts";
import { sideFilePath } from "../../db/side/side-file.ts";
import { HISTORY_SCHEMA } from "../../history/schema.ts";
import { reasonOf } from "../../lib/failure.ts";
import type { Resolve } from "../../net/resolve.ts";
import type { Clock } from "../../runtime/clock.ts";
import { lockHolder } from "../../runtime/data-dir.ts";
import { grouped } from "../../runtime/progress-line.ts";
import { costCheck, spaceForIndexCheck } from "./costs.ts";
import { dataDirectoryCheck, lookAt } from "./data-directory.ts";
import { lookIntoDatabases, postgresCheck } from "./databases.ts";
import { type Check, type Finding, fail, ok, runChecks, warn } from "./finding.ts";
import { followedNodeCheck } from "./followed-node.ts";
import {
  filesCheck,
  memoryCheck,
  namesCheck,
  portsCheck,
  readyCheck,
  type Synchronised,
  timeSourceCheck,
} from "./machine.ts";
import type { Place } from "./place.ts";

const TIMEOUT_MS = 15_000;

export interface ExamineDeps extends Pick<LoadedConfig, "config" | "file" | "warnings"> {
  readonly clock: Clock;
  readonly kernelClock: () => Synchronised;
  readonly resolve: Resolve;
  /** Asks the running node whether it is ready; throws with the reason if it is not. */
  readonly askReady: () => Promise<string>;
  /** Examines the data directory: `askPlace`. */
  readonly askPlace: (dataDir: string) => Promise<Place | undefined>;
  /** Per check. */
  readonly timeoutMs?: number;
}

/** Checks the settings in force, the machine and the followed node. Nothing outside the data directory is written. */
export async function examine(deps: ExamineDeps): Promise<Finding[]> {
  const { config, clock, kernelClock, resolve, askReady, askPlace, timeoutMs = TIMEOUT_MS } = deps;
  const { dir } = config.data;
  const looked = await lookAt(dir, askPlace(dir));
  const holder = looked.ok ? lockHolder(dir) : undefined;
  // Done before the other checks, because it would lengthen their times.
  const databases = looked.ok ? lookIntoDatabases(config, looked.value) : [];
  const checks: Check[] = [
    settingsCheck(deps),
    dataDirectoryCheck(looked),
    { name: "databases", run: async () => databases },
    ...(looked.ok ? [sideFilesCheck(config), spaceForIndexCheck(config, looked.value)] : []),
    costCheck(config),
    memoryCheck(config.http),
    filesCheck(holder?.pid === undefined ? undefined : `/proc/${holder.pid}/limits`),
    timeSourceCheck(kernelClock),
    namesCheck(config, resolve),
    followedNodeCheck({ config, clock }),
    postgresCheck(config),
    holder ? readyCheck(askReady) : portsCheck(config),
  ];
  return await runChecks(checks, timeoutMs);
}

/** Reports the risks that `serve` logs at startup. */
const settingsCheck = ({
  config,
  file,
  warnings,
}: Pick<LoadedConfig, "config" | "file" | "warnings">): Check => ({
  name: "settings",
  run: async () => {
    const risks = findRisks(config).map(({ key, message }) => warn("settings", key, message));
    const odd = warnings.map((text) => warn("settings", text, "See docs/operate/settings.md"));
    if (risks.length + odd.length > 0) return [...odd, ...risks];
    return [ok("settings", `valid, from ${file ?? "the defaults (no file)"}`)];
  },
});

/** Returns the findings for invalid settings, with which nothing else can be checked. */
export function settingsFindings(problems: readonly ConfigProblem[]): Finding[] {
  return problems.map(({ key, message, source }) =>
    fail(
      "settings",
      `${key} ${message} (${source})`,
      "Correct it; `svc config defaults` explains each setting",
    ),
  );
}

const MB = 1_000_000;
const SET_ASIDE = /^\w+\.db\.bad-\d+$/;

/** Checks whether the history can be read, how large it is, and whether a damaged side file was set aside. */
const sideFilesCheck = ({ data, history }: Config): Check => ({
  name: "history",
  run: async () => [...historyFinding(data.dir, history), ...setAside(data.dir)],
});

function historyFinding(dir: string, { enabled, max_bytes: maxBytes }: Config["history"]): Finding[] {
  const path = sideFilePath(dir, HISTORY_SCHEMA);
  if (!enabled || !existsSync(path)) return [];
  try {
    using db = SideDatabase.openReader(path, HISTORY_SCHEMA);
    const size = `${grouped(Math.ceil(db.usedBytes() / MB))} of at most ${grouped(Math.ceil(maxBytes / MB))} MB`;
    return [ok("history", `history.db can be read and has ${size}`)];
  } catch (cause) {
    return [
      warn(
        "history",
        `history.db cannot be read: ${reasonOf(cause)}`,
        "The node sets a damaged one aside and begins a new one; only the console depends on it",
      ),
    ];
  }
}

function setAside(dir: string): Finding[] {
  const found = existsSync(dir) ? readdirSync(dir).filter((name) => SET_ASIDE.test(name)) : [];
  const [first] = found;
  if (first === undefined) return [];
  const text = `${found.length === 1 ? first : `${first} and ${found.length - 1} more`} was set aside as damaged`;
  return [warn("history", text, "Check the disk, and delete what you do not need")];
}
