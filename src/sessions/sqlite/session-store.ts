import { insertAuditEntry } from "../../audit/sqlite/audit-store.ts";
import type { StateDatabase } from "../../db/state/database.ts";
import { savedClockSecs } from "../../db/state/saved-clock.ts";
import type { StateClock } from "../../db/state/state-clock.ts";
import { statement } from "../../db/state/statement.ts";
import type { StoreWrites } from "../../db/state/store-writes.ts";
import type { SweepStep } from "../../db/state/sweep.ts";
import {
  SESSION_COLUMNS,
  type SessionRow,
  type SessionValues,
  sessionValues,
  toSession,
} from "../session-row.ts";
import type { SessionStore } from "../session-store.ts";

const byId = statement<SessionRow, [sessionId: string, nowSecs: number]>(
  "sessions.find",
  `SELECT ${SESSION_COLUMNS} FROM sessions WHERE session_id = ? AND expires_at > ?`,
);
const byOwner = statement<SessionRow, [ownerFid: number, nowSecs: number]>(
  "sessions.by-owner",
  `SELECT ${SESSION_COLUMNS} FROM sessions WHERE owner_fid = ? AND expires_at > ? ORDER BY seq DESC`,
);
const insert = statement<unknown, SessionValues>(
  "sessions.insert",
  `INSERT INTO sessions (${SESSION_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);
/** Ends all sessions of an owner but the newest `kept` live ones of a custody address. */
const endOthers = statement<unknown, [ownerFid: number, custody: Uint8Array, nowSecs: number, kept: number]>(
  "sessions.end-others",
  `DELETE FROM sessions WHERE owner_fid = ?1 AND seq NOT IN
   (SELECT seq FROM sessions WHERE owner_fid = ?1 AND custody = ?2 AND expires_at > ?3 ORDER BY seq DESC LIMIT ?4)`,
);
const endOne = statement<unknown, [sessionId: string, ownerFid: number]>(
  "sessions.end",
  "DELETE FROM sessions WHERE session_id = ? AND owner_fid = ?",
);
const endAll = statement<unknown, [ownerFid: number]>(
  "sessions.end-all",
  "DELETE FROM sessions WHERE owner_fid = ?",
);
const markUsed = statement<unknown, [nowSecs: number, sessionId: string]>(
  "sessions.mark-used",
  "UPDATE sessions SET last_used_at = ?1 WHERE session_id = ?2 AND (last_used_at IS NULL OR last_used_at < ?1)",
);
const deleteExpired = statement<unknown, [nowSecs: number, max: number]>(
  "sessions.sweep",
  `DELETE FROM sessions WHERE seq IN (SELECT seq FROM sessions WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
);

export function sessionReads(db: StateDatabase): Pick<SessionStore, "find" | "listByOwner"> {
  /** A machine's clock that went back brings no expired session back. */
  const latest = (nowSecs: number) => Math.max(nowSecs, savedClockSecs(db) ?? 0);
  return {
    async find(sessionId, nowSecs) {
      const row = db.get(byId, sessionId, latest(nowSecs));
      return row && toSession(row);
    },
    listByOwner: async (ownerFid, nowSecs) => db.all(byOwner, ownerFid, latest(nowSecs)).map(toSession),
  };
}

export function sessionWrites(db: StateDatabase): StoreWrites<SessionStore, "create" | "end" | "markUsed"> {
  return {
    create(session, cap, audit) {
      db.run(endOthers, session.ownerFid, session.custody, session.createdAt, cap - 1);
      db.run(insert, ...sessionValues(session));
      insertAuditEntry(db, audit);
    },

    end(ownerFid, which, audit) {
      const ended = which === "all" ? db.run(endAll, ownerFid) : db.run(endOne, which.sessionId, ownerFid);
      if (ended > 0) insertAuditEntry(db, audit);
      return ended > 0;
    },

    markUsed(sessionId, nowSecs) {
      db.run(markUsed, nowSecs, sessionId);
    },
  };
}

export function sessionSweep(db: StateDatabase, clock: StateClock): SweepStep {
  return (maxRows) => {
    const deleted = db.run(deleteExpired, clock.sweepableSecs(), maxRows);
    return { deleted, more: deleted === maxRows };
  };
}
