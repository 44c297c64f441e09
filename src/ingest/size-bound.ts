import { statSync } from "node:fs";
import { bulkPhaseOf } from "../db/index/bulk/bulk-state.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { UserError } from "../lib/failure.ts";
import { rejection } from "../protocol/rejection.ts";
import type { Logger } from "../runtime/log/logger.ts";

/** Size of the index in bytes. */
export interface IndexSize {
  /** The pages in use plus the write-ahead log, which count towards the limit. */
  readonly bytes: number;
  /** `index.max_bytes`; null without a limit. */
  readonly maxBytes: number | null;
  /** Whether merging has stopped. */
  readonly isFull: boolean;
}

/** Significance of the size: none, a warning, or that merging has stopped. */
export type SizeLevel = "room" | "near" | "full";

/** Decides before each group of merges whether the index may grow. */
export type SizeBound = ReturnType<typeof createSizeBound>;

export interface SizeBoundDeps {
  readonly db: IndexDatabase;
  /** `index.max_bytes`; 0 for none. */
  readonly maxBytes: number;
  /** Called with the previous level when the level changes. */
  readonly onLevel?: (level: SizeLevel, before: SizeLevel, size: IndexSize) => void;
  /**
   * Deletes a slice of data that the index does not need, when it would otherwise be full. Returns whether there was any.
   * Default: there is none.
   */
  readonly shrink?: () => boolean;
  /** Returns monotonic time in milliseconds. */
  readonly nowMs?: () => number;
}

type BulkGrowth = keyof typeof GROWTH;

/**
 * Factor by which existing bytes will still grow. The build of an index takes more than its spool, so a spool counts as full
 * early. The build itself is always finished, because half of it would be useless.
 */
const GROWTH = { spooling: 2, building: 0, finished: 1 } as const;
const NEAR_SHARE = 0.9;
/** Below this share, the warning can be logged again. */
const FAR_SHARE = 0.85;
/**
 * Merging continues below this share. Expired events free pages all the time, and otherwise each would let one group of
 * merges through.
 */
const RESUME_SHARE = 0.99;
/**
 * A write-ahead log larger than this share of the limit is emptied before the index counts as full, at most once per
 * interval.
 */
const LOG_SHARE = 1 / 16;
const TRUNCATE_INTERVAL_MS = 5000;
/** Slices deleted before one group of merges, and the pause after there was nothing to delete. */
const MAX_SLICES = 10;
const SHRINK_INTERVAL_MS = 1000;

/** Refusal of a record when the index is full. Its sender may try again later. */
export const INDEX_FULL = rejection("resource_exhausted", "the index has reached index.max_bytes");

/** Thrown when relayed or imported records were not merged because the index has reached its size limit. */
export class IndexFullError extends UserError {
  override name = "IndexFullError";

  constructor() {
    super(
      "the index has reached index.max_bytes. Raise it, or make the index smaller with `svc index compact`",
    );
  }
}

/** Creates the size limit of an index. `db` is the connection of its writer. */
export function createSizeBound(deps: SizeBoundDeps) {
  const { db, maxBytes, onLevel, shrink = () => false, nowMs = () => performance.now() } = deps;
  const pageBytes = db.sqlite.query<{ page_size: number }, []>("PRAGMA page_size").get()?.page_size ?? 0;
  const logFile = `${db.file}-wal`;
  let growth: number = GROWTH[bulkPhaseOf(db) ?? "finished"];
  let level: SizeLevel = "room";
  let truncatedAtMs = Number.NEGATIVE_INFINITY;
  let shrunkAtMs = Number.NEGATIVE_INFINITY;

  const logBytes = () => statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;

  function measure(): number {
    const { all, free } = db.pages();
    return (all - free) * pageBytes + logBytes();
  }

  /** Empties the write-ahead log if that may be what fills the index. Returns whether it did. */
  function hasTruncated(): boolean {
    if (logBytes() < LOG_SHARE * maxBytes || nowMs() - truncatedAtMs < TRUNCATE_INTERVAL_MS) return false;
    truncatedAtMs = nowMs();
    db.tryTruncateLog();
    return true;
  }

  /** Deletes a slice of data that the index does not need. Returns whether it did. */
  function hasShrunk(): boolean {
    if (nowMs() - shrunkAtMs < SHRINK_INTERVAL_MS) return false;
    if (shrink()) return true;
    shrunkAtMs = nowMs();
    return false;
  }

  function levelOf(bytes: number): SizeLevel {
    const share = (bytes * growth) / maxBytes;
    if (share >= (level === "full" ? RESUME_SHARE : 1)) return "full";
    return share >= (level === "room" ? NEAR_SHARE : FAR_SHARE) ? "near" : "room";
  }

  function size(): IndexSize {
    let bytes = measure();
    if (maxBytes === 0) return { bytes, maxBytes: null, isFull: false };
    const before = level;
    level = levelOf(bytes);
    for (let slices = 0; level === "full" && slices < MAX_SLICES; slices++) {
      if (!hasTruncated() && !hasShrunk()) break;
      bytes = measure();
      level = levelOf(bytes);
    }
    const now = { bytes, maxBytes, isFull: level === "full" };
    if (level !== before) onLevel?.(level, before, now);
    return now;
  }

  return {
    /** Reports whether merging must stop. */
    isFull: (): boolean => maxBytes > 0 && size().isFull,
    size,
    /**
     * Called when a bulk build starts spooling, starts building and ends, because existing bytes then grow by other factors.
     */
    setPhase(phase: BulkGrowth): void {
      growth = GROWTH[phase];
    },
  };
}

/** Logs that the index approaches its size limit, has reached it, or has room again. */
export function logSizeLevel(log: Logger, level: SizeLevel, before: SizeLevel, size: IndexSize): void {
  const { bytes, maxBytes } = size;
  if (level === "full")
    log.error({ bytes, maxBytes }, "The index has reached index.max_bytes: nothing more is merged");
  else if (before === "full") log.info({ bytes, maxBytes }, "The index has room again: merging goes on");
  else if (level === "near") log.warn({ bytes, maxBytes }, "The index comes close to index.max_bytes");
}
