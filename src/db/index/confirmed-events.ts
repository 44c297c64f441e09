import type { IndexDatabase } from "./database.ts";
import { statement } from "./statement.ts";

/** The on-chain events of one type of an fid that two nodes had alike. */
export interface ConfirmedEvents {
  readonly type: number;
  readonly fid: number;
  /** The digest of all of them, as the index has them. */
  readonly fingerprint: Uint8Array;
  /** Unix seconds. */
  readonly confirmedAt: number;
}

/** A later one takes the place of the oldest. */
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

/** Returns what two nodes had alike last; undefined if that is not known. */
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
