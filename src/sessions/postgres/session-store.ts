import { insertAuditEntry } from "../../audit/postgres/audit-store.ts";
import type { PgPool } from "../../db/postgres/pool.ts";
import { pgStatement } from "../../db/postgres/statement.ts";
import type { StateClock } from "../../db/state/state-clock.ts";
import type { Sweep } from "../../db/state/sweep.ts";
import {
  SESSION_COLUMNS,
  type SessionRow,
  type SessionValues,
  sessionValues,
  toSession,
} from "../session-row.ts";
import type { SessionStore } from "../session-store.ts";

/** The later of the node's time and that of PostgreSQL: a node's clock that is behind brings no expired session back. */
const latest = (nowSecs: string) => `greatest(${nowSecs}::bigint, extract(epoch FROM now())::bigint)`;

const byId = pgStatement<SessionRow, [sessionId: string, nowSecs: number]>(
  "sessions.find",
  `SELECT ${SESSION_COLUMNS} FROM sessions WHERE session_id = $1 AND expires_at > ${latest("$2")}`,
);
const byOwner = pgStatement<SessionRow, [ownerFid: number, nowSecs: number]>(
  "sessions.by-owner",
  `SELECT ${SESSION_COLUMNS} FROM sessions WHERE owner_fid = $1 AND expires_at > ${latest("$2")} ORDER BY seq DESC`,
);
/** An earlier run may have been committed without an answer. */
const insert = pgStatement<unknown, SessionValues>(
  "sessions.insert",
  `INSERT INTO sessions (${SESSION_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
);
/** Ends all sessions of an owner but the newest `kept` live ones of a custody address. */
const endOthers = pgStatement<
  unknown,
  [ownerFid: number, custody: Uint8Array, nowSecs: number, kept: number]
>(
  "sessions.end-others",
  `DELETE FROM sessions WHERE owner_fid = $1 AND seq NOT IN
   (SELECT s.seq FROM sessions s WHERE s.owner_fid = $1 AND s.custody = $2 AND s.expires_at > $3
    ORDER BY s.seq DESC LIMIT $4)`,
);
const endOne = pgStatement<unknown, [sessionId: string, ownerFid: number]>(
  "sessions.end",
  "DELETE FROM sessions WHERE session_id = $1 AND owner_fid = $2",
);
const endAll = pgStatement<unknown, [ownerFid: number]>(
  "sessions.end-all",
  "DELETE FROM sessions WHERE owner_fid = $1",
);
const markUsed = pgStatement<unknown, [nowSecs: number, sessionId: string]>(
  "sessions.mark-used",
  "UPDATE sessions SET last_used_at = $1 WHERE session_id = $2 AND (last_used_at IS NULL OR last_used_at < $1)",
);
const deleteExpired = pgStatement<unknown, [nowSecs: number, max: number]>(
  "sessions.sweep",
  `DELETE FROM sessions WHERE seq IN
   (SELECT s.seq FROM sessions s WHERE s.expires_at < $1 ORDER BY s.expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

/** Creates the sessions of all nodes. */
export function createPostgresSessions(pool: PgPool): SessionStore {
  return {
    async find(sessionId, nowSecs) {
      const row = await pool.get(byId, sessionId, nowSecs);
      return row && toSession(row);
    },
    listByOwner: async (ownerFid, nowSecs) => (await pool.all(byOwner, ownerFid, nowSecs)).map(toSession),

    create: (session, cap, audit) =>
      pool.transaction(async (tx) => {
        const { ownerFid, custody, createdAt } = session;
        await tx.lock("owner", `sessions:${ownerFid}`);
        await tx.run(endOthers, ownerFid, custody, createdAt, cap - 1);
        const inserted = await tx.run(insert, ...sessionValues(session));
        if (inserted === 1) await insertAuditEntry(tx, audit);
      }),

    end(ownerFid, which, audit) {
      // A repetition of a run that was committed without an answer finds nothing.
      let hasEnded = false;
      return pool.transaction(async (tx) => {
        await tx.lock("owner", `sessions:${ownerFid}`);
        const ended =
          which === "all" ? await tx.run(endAll, ownerFid) : await tx.run(endOne, which.sessionId, ownerFid);
        if (ended > 0) await insertAuditEntry(tx, audit);
        hasEnded ||= ended > 0;
        return hasEnded;
      });
    },

    async markUsed(sessionId, nowSecs) {
      await pool.run(markUsed, nowSecs, sessionId);
    },
  };
}

export function sessionSweep(pool: PgPool, clock: StateClock): Sweep {
  return {
    name: "sessions",
    async step(maxRows) {
      const deleted = await pool.run(deleteExpired, clock.sweepableSecs(), maxRows);
      return { deleted, more: deleted === maxRows };
    },
  };
}
