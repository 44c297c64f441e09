import type { SideDatabase } from "../../db/side/side-database.ts";
import { statement } from "../../db/side/statement.ts";
import type { NotableResponse } from "../../http/metrics/notable-requests.ts";

const HOUR_MS = 3_600_000;
const SLOWEST = 100;
const MAX_FAILED = 1_000;

const ADD = statement<
  never,
  [
    atMs: number,
    hour: number,
    method: string,
    route: string,
    status: number,
    ms: number,
    requestId: string,
    keyPrefix: string | null,
  ]
>(
  "history-requests.add",
  "INSERT INTO requests (at_ms, hour, method, route, status, ms, request_id, key_prefix) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
);
const DELETE_FASTER = statement<never, [hour: number, sameHour: number, kept: number]>(
  "history-requests.delete-faster",
  `DELETE FROM requests WHERE hour = ? AND status < 500 AND id IN
   (SELECT id FROM requests WHERE hour = ? AND status < 500 ORDER BY ms DESC LIMIT -1 OFFSET ?)`,
);
const DELETE_FAILED = statement<never, [hour: number, sameHour: number, kept: number]>(
  "history-requests.delete-failed",
  `DELETE FROM requests WHERE hour = ? AND status >= 500 AND id IN
   (SELECT id FROM requests WHERE hour = ? AND status >= 500 ORDER BY ms DESC LIMIT -1 OFFSET ?)`,
);
const BETWEEN = statement<NotableResponse, [fromMs: number, toMs: number, limit: number]>(
  "history-requests.between",
  `SELECT at_ms AS atMs, method, route, status, ms, request_id AS requestId, key_prefix AS keyPrefix
   FROM requests WHERE at_ms >= ? AND at_ms < ? ORDER BY at_ms DESC LIMIT ?`,
);
const DELETE_BEFORE = statement<never, [beforeMs: number]>(
  "history-requests.delete-before",
  "DELETE FROM requests WHERE at_ms < ?",
);

const DELETE_OLDEST = statement<never, [limit: number]>(
  "history-requests.delete-oldest",
  "DELETE FROM requests WHERE id IN (SELECT id FROM requests ORDER BY id LIMIT ?)",
);

/** Adds requests. The slowest hundred of each hour are kept, and a thousand failed ones. */
export function addRequests(db: SideDatabase, requests: readonly NotableResponse[]): void {
  const hours = new Set<number>();
  for (const { atMs, method, route, status, ms, requestId, keyPrefix } of requests) {
    const hour = Math.floor(atMs / HOUR_MS);
    hours.add(hour);
    db.run(ADD, atMs, hour, method, route, status, ms, requestId, keyPrefix);
  }
  for (const hour of hours) {
    db.run(DELETE_FASTER, hour, hour, SLOWEST);
    db.run(DELETE_FAILED, hour, hour, MAX_FAILED);
  }
}

/** Returns the requests in a time range, newest first. */
export function requestsBetween(
  db: SideDatabase,
  fromMs: number,
  toMs: number,
  limit: number,
): NotableResponse[] {
  return db.all(BETWEEN, fromMs, toMs, limit);
}

/** Deletes a hundred of the oldest. Returns whether there were any. */
export function deleteOldestRequests(db: SideDatabase): boolean {
  return db.run(DELETE_OLDEST, 100) > 0;
}

export function deleteRequestsBefore(db: SideDatabase, beforeMs: number): number {
  return db.run(DELETE_BEFORE, beforeMs);
}
