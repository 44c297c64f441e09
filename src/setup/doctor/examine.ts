import type { LoadedConfig } from "../../config/load.ts";
import type { Resolve } from "../../net/resolve.ts";
import type { Clock } from "../../runtime/clock.ts";
import { lockHolder } from "../../runtime/data-dir.ts";
import { type Check, runChecks } from "./checks.ts";
import { dataDirectoryCheck, lookAt } from "./data-directory.ts";
import { lookIntoDatabases } from "./databases.ts";
import type { Finding } from "./finding.ts";
import { followedNodeCheck } from "./followed-node.ts";
import type { Synchronised } from "./kernel-clock.ts";
import { filesCheck, memoryCheck } from "./machine.ts";
import { namesCheck } from "./names.ts";
import type { Place } from "./place.ts";
import { portsCheck, readyCheck } from "./ports.ts";
import { postgresCheck } from "./postgres.ts";
import { settingsCheck } from "./settings.ts";
import { costCheck, spaceForIndexCheck } from "./space-estimate.ts";
import { timeSourceCheck } from "./time-source.ts";

const TIMEOUT_MS = 15_000;

export interface ExamineDeps extends Pick<LoadedConfig, "config" | "file" | "warnings"> {
  readonly clock: Clock;
  readonly kernelClock: () => Synchronised;
  readonly resolve: Resolve;
  /** Asks the running node whether it is ready; throws with the reason when it is not. */
  readonly askReady: () => Promise<string>;
  /** Finds out about the data directory: `askPlace`. */
  readonly askPlace: (dataDir: string) => Promise<Place | undefined>;
  /** For each check. */
  readonly timeoutMs?: number;
}

/** Checks the settings in force, the machine and the followed node. Nothing outside the data directory is written. */
export async function examine(deps: ExamineDeps): Promise<Finding[]> {
  const { config, clock, kernelClock, resolve, askReady, askPlace, timeoutMs = TIMEOUT_MS } = deps;
  const { dir } = config.data;
  const looked = await lookAt(dir, askPlace(dir));
  const holder = looked.ok ? lockHolder(dir) : undefined;
  // Before the other checks, whose times it would lengthen.
  const databases = looked.ok ? lookIntoDatabases(config, looked.value) : [];
  const checks: Check[] = [
    settingsCheck(deps),
    dataDirectoryCheck(looked),
    { name: "databases", run: async () => databases },
    ...(looked.ok ? [spaceForIndexCheck(config, looked.value)] : []),
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
