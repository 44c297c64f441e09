import type { StateDatabase } from "./database.ts";
import { statement } from "./statement.ts";

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

/** The saved time of the state's clock in unix seconds; undefined before the first save. */
export function savedClockSecs(db: StateDatabase): number | undefined {
  const saved = db.get(read)?.now_secs ?? 0;
  return saved === 0 ? undefined : saved;
}

export function saveClock(db: StateDatabase, nowSecs: number): void {
  db.run(saveNow, nowSecs);
}

/** Nonces that were valid until this time, in unix seconds, may have been deleted. */
export function nonceFloor(db: StateDatabase): number {
  return db.get(read)?.nonce_floor ?? 0;
}

/** Records, within the caller's transaction, that nonces valid until `expiresAt` were deleted. */
export function raiseNonceFloor(db: StateDatabase, expiresAt: number): void {
  db.run(raiseFloor, expiresAt);
}
