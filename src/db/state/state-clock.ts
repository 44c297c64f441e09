import { statSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import type { StateDatabase } from "./database.ts";
import { statement } from "./sql.ts";
import { key, small, table, whole } from "./table.ts";

/**
 * The clock by which the state expires data. The machine's clock may jump forward and back, and data that a forward jump
 * expired would be missing once the jump is undone.
 */
export interface StateClock {
  /** Returns whole Unix milliseconds. Never goes back, even across a restart, and advances at the rate of real time. */
  nowMs(): number;
  /**
   * Returns the time, in whole Unix milliseconds, by which scheduled work is due. Unlike `nowMs`, it does not lag by the
   * time for which the node was stopped.
   */
  dueMs(): number;
  /**
   * Returns the time, in Unix seconds of the machine's clock, before which expired data may be deleted. It lags the
   * machine's clock by a margin and by any unconfirmed jump.
   */
  sweepableSecs(): number;
}

/** Returns the time of the state's clock, in Unix seconds. */
export function stateSecs(clock: StateClock): number {
  return Math.floor(clock.nowMs() / 1000);
}

/** Corrections of the machine's clock up to this size are normal. */
const JUMP_MS = 30_000;
/** A forward jump is trusted after the machine's clock has run steadily for this long. */
const STEADY_MS = 3_600_000;
/** More than two corrections that are too small to count as jumps. */
const SWEEP_MARGIN_MS = 2 * JUMP_MS;

export interface SteadyClockOptions {
  readonly clock: Clock;
  /** A monotonic clock that advances at the rate of real time. */
  readonly monotonicMs?: () => number;
  /** The saved time of an earlier process; undefined if there is none. */
  readonly savedMs?: number;
}

/**
 * Creates a clock that follows the machine's clock while it runs steadily. It follows monotonic time when the machine's
 * clock jumps, or is behind the saved time of an earlier process.
 */
export function createSteadyClock(options: SteadyClockOptions): StateClock {
  const { clock, monotonicMs = () => performance.now(), savedMs } = options;
  let readAtMs = monotonicMs();
  let nowMs = savedMs ?? clock.nowMs();
  /** The machine's clock minus the monotonic clock, constant since `steadySinceMs`. */
  let differenceMs = clock.nowMs() - readAtMs;
  // Without an earlier process, no stored data could expire by a jump.
  let steadySinceMs = savedMs === undefined ? Number.NEGATIVE_INFINITY : readAtMs;

  function read(): number {
    const monotonic = monotonicMs();
    const wallMs = clock.nowMs();
    nowMs += Math.max(monotonic - readAtMs, 0);
    readAtMs = monotonic;
    if (Math.abs(wallMs - monotonic - differenceMs) > JUMP_MS) {
      differenceMs = wallMs - monotonic;
      steadySinceMs = monotonic;
    }
    if (wallMs > nowMs && monotonic - steadySinceMs >= STEADY_MS) nowMs = wallMs;
    return nowMs;
  }

  return {
    nowMs: () => Math.floor(read()),
    dueMs: () => Math.floor(clock.nowMs()),
    sweepableSecs: () => Math.floor((Math.min(read(), clock.nowMs()) - SWEEP_MARGIN_MS) / 1000),
  };
}

/** The state's clock: a single row with `id` 1. Times are in Unix seconds. */
export const stateClock = table(
  "state_clock",
  {
    id: key(small()),
    /** The saved time of the state's clock. */
    now_secs: whole(),
    /** The largest `expires_at` of a deleted nonce. */
    nonce_floor: whole(),
  },
  {
    isCopied: false,
  },
);

const read = statement<{ now_secs: number; nonce_floor: number }>(
  "state-clock.read",
  "SELECT now_secs, nonce_floor FROM state_clock WHERE id = 1",
);
const saveNow = statement<unknown, [nowSecs: number]>(
  "state-clock.save",
  `INSERT INTO state_clock (id, now_secs, nonce_floor) VALUES (1, ?1, 0)
   ON CONFLICT (id) DO UPDATE SET now_secs = max(now_secs, ?1)`,
);
const raiseFloor = statement<unknown, [nonceFloor: number]>(
  "state-clock.raise-floor",
  `INSERT INTO state_clock (id, now_secs, nonce_floor) VALUES (1, 0, ?1)
   ON CONFLICT (id) DO UPDATE SET nonce_floor = max(nonce_floor, ?1)`,
);

/** When the process is killed, the saved time lags by at most this much, because an idle writer saves it once a minute. */
const MAX_UNSAVED_MS = 70_000;

/**
 * Records the time of the state's clock as the modification time of a file, which outlives the process and costs no commit.
 * Does not open the file: only SQLite may open the files of a database.
 */
export function markClock(file: string, clock: StateClock): void {
  const secs = clock.nowMs() / 1000;
  try {
    utimesSync(file, secs, secs);
  } catch {
    // The saved time is still there.
  }
}

/** Returns the file whose modification time records the clock of a state. */
export function clockMarkOf(stateFile: string): string {
  return join(dirname(stateFile), "lock");
}

/**
 * Continues the clock of a state from the last time of an earlier process: the saved time, or the mark of a process that was
 * killed before it saved again. A mark that is too far ahead counts only as far as it can be true.
 */
export function continueClock(
  db: StateDatabase,
  options: Partial<Pick<SteadyClockOptions, "clock" | "monotonicMs">> = {},
): StateClock {
  const { clock = systemClock, monotonicMs } = options;
  const secs = savedClockSecs(db);
  if (secs === undefined) return createSteadyClock({ clock, monotonicMs });
  const saved = secs * 1000;
  const marked = statSync(clockMarkOf(db.file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const savedMs = Math.min(Math.max(marked, saved), saved + MAX_UNSAVED_MS);
  return createSteadyClock({ clock, monotonicMs, savedMs });
}

/**
 * Deletes what a state that went back in time must not keep: sessions that owners have ended, and keys that may have been
 * used before.
 */
const FORGOTTEN = [
  statement("sessions.delete-all", "DELETE FROM sessions"),
  statement("sign-in-nonces.forget-key", "DELETE FROM sign_in_nonce_key"),
  statement("sign-in-keys.delete-all", "DELETE FROM signin_keys"),
  statement("one-time.delete-all", "DELETE FROM one_time"),
];

/** Returns the saved time of the state's clock in Unix seconds; undefined before the first save. */
export function savedClockSecs(db: StateDatabase): number | undefined {
  const saved = db.get(read)?.now_secs ?? 0;
  return saved === 0 ? undefined : saved;
}

export function saveClock(db: StateDatabase, nowSecs: number): void {
  db.run(saveNow, nowSecs);
}

/** Returns the latest expiry, in Unix seconds, of nonces that may have been deleted. */
export function nonceFloor(db: StateDatabase): number {
  return db.get(read)?.nonce_floor ?? 0;
}

/** Records, within the caller's transaction, that nonces valid until `expiresAt` were deleted. */
export function raiseNonceFloor(db: StateDatabase, expiresAt: number): void {
  db.run(raiseFloor, expiresAt);
}

/**
 * Makes a state that went back in time safe to use, within the caller's transaction: decisions that were lost may have
 * carried out requests valid until `expiresAt`, and owners may have ended sessions.
 */
export function refuseEarlierRequests(db: StateDatabase, expiresAt: number): void {
  raiseNonceFloor(db, expiresAt);
  for (const forget of FORGOTTEN) db.run(forget);
}
