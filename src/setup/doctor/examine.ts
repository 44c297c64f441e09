import type { Config } from "../../config/schema.ts";
import { type Check, runChecks } from "./checks.ts";
import { dataDirectoryCheck } from "./data-directory.ts";
import type { Finding } from "./finding.ts";
import { filesCheck, memoryCheck } from "./machine.ts";
import { settingsCheck } from "./settings.ts";

const TIMEOUT_MS = 15_000;

export interface ExamineDeps {
  readonly config: Config;
  /** The settings file in force. */
  readonly file: string | undefined;
}

/** Checks the settings in force and the machine. Nothing outside the data directory is written. */
export async function examine({ config, file }: ExamineDeps): Promise<Finding[]> {
  const checks: Check[] = [
    settingsCheck(config, file),
    dataDirectoryCheck(config.data.dir),
    memoryCheck(config.http),
    filesCheck("/proc/self/limits"),
  ];
  return await runChecks(checks, TIMEOUT_MS);
}
