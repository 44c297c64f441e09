import type { Config } from "../../config/schema.ts";
import { settingsInForce } from "../../console/operator/present.ts";
import { recentBackups } from "../../history/events/backups.ts";
import { type History, type HistoryStats, openHistory } from "../../history/history.ts";
import { err } from "../../lib/result.ts";
import { systemClock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import { version } from "../../version.ts";

/** Attempts that a node without a history remembers. */
const MAX_RECENT = 50;
const OFF = "history.enabled is off";

/** Its stats are null while the history is off. */
export interface NodeHistory extends Omit<History, "stats"> {
  stats(): HistoryStats | null;
}

/** Opens the history of a node; if it is off, nothing is stored. */
export function openNodeHistory(config: Config, log: Logger): NodeHistory {
  // The figures come from the console.
  if (!config.history.enabled || !config.console.enabled) return noHistory;
  return openHistory({
    dir: config.data.dir,
    settings: config.history,
    beginning: { version, settings: settingDigests(config) },
    clock: systemClock,
    log,
  });
}

const noHistory: NodeHistory = {
  stats: () => null,
  rpc: {
    record: () => {},
    figures: () => err(OFF),
    lanes: () => err(OFF),
    log: async () => err(OFF),
    requests: () => err(OFF),
  },
  backups: recentBackups(MAX_RECENT),
  stop: () => {},
};

/** Returns a digest of each setting's value. Secrets are masked. */
function settingDigests(config: Config): Record<string, string> {
  return Object.fromEntries(
    settingsInForce(config, new Map()).map(({ key, value }) => [
      key,
      Bun.hash(JSON.stringify(value) ?? "").toString(36),
    ]),
  );
}
