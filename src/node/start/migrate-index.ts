import { statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { indexPath } from "../../db/index/database.ts";
import { OlderIndex } from "../../db/index/upgrade/older-index.ts";
import { dropOldIndex, newFileOf, restoreIndex } from "../../db/index/upgrade/replace-file.ts";
import type { UpgradeProgress, UpgradeReport } from "../../db/index/upgrade/upgrade-index.ts";
import { UserError } from "../../lib/failure.ts";
import type { Common } from "../../runtime/common.ts";
import {
  createProgressReporter,
  formatDuration,
  grouped,
  percentOf,
  progressLine,
  progressOnStderr,
} from "../../runtime/progress-line.ts";
import type { StartingProgress } from "../workers/starting.worker.ts";

export interface MigrateIndexOptions {
  /** Migrates any index. If false, only the demo network and an index with few messages. */
  readonly always: boolean;
  /** Whether to delete the older file at once. */
  readonly dropOld?: boolean;
  /** Called before the work starts, which waits for it, and after each step. */
  readonly onProgress?: (progress: StartingProgress) => Promise<void>;
}

/** An index with fewer messages is migrated within seconds, so it does not need the command. */
const FEW_MESSAGES = 100_000;
/** Space for the new file and its sorts, as a share of the older file. */
const SPACE_SHARE = 0.65;
/** The write-ahead log of the new file. It never exceeds the size of the older file. */
const LOG_BYTES = 256 * 1024 * 1024;
const MESSAGES_PER_SEC = 30_000;
/** Shares of the total work. */
const SHARES = { copy: 0.01, spool: 0.4, build: 0.34, verify: 0.25, replace: 0 } as const;
const LOG_INTERVAL_MS = 5000;
const TASK = "migrating the index to a new format";

/**
 * Migrates an index of an older format. Commands that write the index call it after they have locked the data directory and before they
 * open the index. Returns undefined if the index has the current format or does not exist.
 *
 * @throws UserError if the operator must run `svc migrate` or free space; the reason of the shutdown when it begins.
 */
export async function migrateIndex(
  common: Common,
  dir: string,
  { always, dropOld = false, onProgress = async () => {} }: MigrateIndexOptions,
): Promise<UpgradeReport | undefined> {
  const path = indexPath(dir);
  restoreIndex(path);
  using older = OlderIndex.open(path);
  if (!older) return undefined;
  const { messages, sizeBytes } = older;
  const duration = formatDuration((messages / MESSAGES_PER_SEC) * 1000);
  if (!always && !older.isDemo && messages >= FEW_MESSAGES) {
    throw new UserError(
      `${path}: the index has the format of an earlier version. Run \`svc migrate\`, which builds a new file from it: ${grouped(messages)} messages, about ${duration}, ${megabytes(neededBytes(path, sizeBytes))} of free space.`,
    );
  }
  checkSpace(path, sizeBytes);
  const { log, clock, config, shutdown } = common;
  await onProgress({ task: TASK, stage: "copy", share: 0, messages });
  const startedMs = performance.now();
  log.info({ path, messages, bytes: sizeBytes, estimate: duration }, "Migrating the index");
  const progress = createProgressReporter<TimedProgress>({
    clock,
    logIntervalMs: LOG_INTERVAL_MS,
    log: (step) => log.info(step, "Migrating the index"),
    output: progressOnStderr(),
    format: formatUpgrade,
  });
  const startedAt = { share: undefined as number | undefined };
  // A dynamic import, so that other starts do not load the code that builds an index.
  const { upgradeIndex } = await import("../../db/index/upgrade/upgrade-index.ts");
  const report = await upgradeIndex({
    older,
    network: config.protocol.network,
    signal: shutdown.signal,
    onProgress: (step) => {
      startedAt.share ??= wholeShare(step);
      progress.update({ ...step, elapsedMs: performance.now() - startedMs, startedAtShare: startedAt.share });
      void onProgress({ task: TASK, stage: step.stage, share: wholeShare(step), messages });
    },
  });
  progress.finish();
  log.info({ ...report, durationMs: Math.round(performance.now() - startedMs) }, "Migrated the index");
  if (dropOld) dropOldIndex(path);
  return report;
}

/** Returns how much free space a migration still needs, in bytes. */
function neededBytes(path: string, olderBytes: number): number {
  const bytesOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const written = bytesOf(newFileOf(path)) + bytesOf(`${newFileOf(path)}-wal`);
  return Math.max(0, Math.ceil(SPACE_SHARE * olderBytes) + Math.min(LOG_BYTES, olderBytes) - written);
}

function checkSpace(path: string, olderBytes: number): void {
  const { bavail, bsize } = statfsSync(dirname(path));
  const needed = neededBytes(path, olderBytes);
  if (bavail * bsize >= needed) return;
  throw new UserError(
    `${path}: migrating the index needs ${megabytes(needed)} of free space in ${dirname(path)}, which has ${megabytes(bavail * bsize)}. The index is unchanged.`,
  );
}

interface TimedProgress extends UpgradeProgress {
  readonly elapsedMs: number;
  /** The share of the total work done by earlier runs. */
  readonly startedAtShare: number;
}

/** Formats a bar, the stage with its share, and the time left, as far as they fit into `columns` columns. */
export function formatUpgrade(progress: TimedProgress, columns: number): string {
  const { stage, part, share, messages, elapsedMs, startedAtShare } = progress;
  const whole = wholeShare(progress);
  const own = whole - startedAtShare;
  const left = `${formatDuration(own > 0 ? (elapsedMs / own) * (1 - whole) : undefined)} left`;
  const percent = percentOf(share).trim();
  const counted =
    stage === "spool" || stage === "verify" ? `, ${grouped(share * messages)} of ${grouped(messages)}` : "";
  const named = part === "" ? "" : `, ${part}`;
  return progressLine(
    whole,
    [`${stage} ${percent}${counted}${named}  ${left}`, `${stage} ${percent}  ${left}`, `${stage} ${percent}`],
    columns,
  );
}

function wholeShare({ stage, share }: UpgradeProgress): number {
  let before = 0;
  for (const [name, weight] of Object.entries(SHARES)) {
    if (name === stage) return before + weight * share;
    before += weight;
  }
  return before;
}

function megabytes(bytes: number): string {
  return `${grouped(bytes / 1e6)} MB`;
}
