import type { IndexDatabase } from "./database.ts";
import { statement } from "./statement.ts";

/** The on-chain events of one type of an fid on which two nodes agreed. */
export interface ConfirmedEvents {
  readonly type: number;
  readonly fid: number;
  /** Digest of all of them, as stored in the index. */
  readonly fingerprint: Uint8Array;
  /** Unix seconds. */
  readonly confirmedAt: number;
}

/** Beyond this number, a new entry replaces the oldest. */
export const MAX_CONFIRMED = 10_000;

const select = statement<ConfirmedEvents, [fid: number, type: number]>(
  "confirmed-events.get",
  `SELECT type, fid, fingerprint, confirmed_at AS confirmedAt FROM confirmed_events WHERE fid = ? AND type = ?`,
);
const put = statement<unknown, [type: number, fid: number, fingerprint: Uint8Array, confirmedAt: number]>(
  "confirmed-events.put",
  "INSERT OR REPLACE INTO confirmed_events (type, fid, fingerprint, confirmed_at) VALUES (?, ?, ?, ?)",
);
const dropOld = statement<unknown, [kept: number]>(
  "confirmed-events.drop-old",
  "DELETE FROM confirmed_events WHERE id <= (SELECT max(id) FROM confirmed_events) - ?",
);

/** Returns the events on which two nodes last agreed; undefined if that is not known. */
export function confirmedEventsOf(db: IndexDatabase, fid: number, type: number): ConfirmedEvents | undefined {
  return db.get(select, fid, type);
}

export function putConfirmedEvents(
  db: IndexDatabase,
  { type, fid, fingerprint, confirmedAt }: ConfirmedEvents,
  max = MAX_CONFIRMED,
): void {
  db.run(put, type, fid, fingerprint, confirmedAt);
  db.run(dropOld, max);
}
