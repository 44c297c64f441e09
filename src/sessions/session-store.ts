import { type AuditEntry, addAuditEntry } from "../audit/audit-store.ts";
import { hasMoved } from "../auth/owners/custody-store.ts";
import type { Session, SessionAccess, SessionLookup } from "../auth/session.ts";
import { type SqlValue, sql } from "../db/state/sql.ts";
import type { StateDb, Sweep } from "../db/state/state-db.ts";
import {
  bytes,
  index,
  nullable,
  type Row,
  recordCodec,
  sequence,
  table,
  text,
  unique,
  whole,
} from "../db/state/table.ts";

/** Keys that a custody address has authorized to sign requests of its fid for a while. Times are unix seconds. */
export const sessions = table(
  "sessions",
  {
    seq: sequence(),
    session_id: unique(text()),
    owner_fid: whole(),
    public_key: bytes(),
    /** The owner's custody address when the session was created. */
    custody: bytes(),
    access: text<SessionAccess>(),
    label: text(),
    origin: text(),
    created_at: whole(),
    expires_at: whole(),
    last_used_at: nullable(whole()),
  },
  {
    indexes: [index("sessions_by_owner", ["owner_fid", "seq"]), index("sessions_by_expiry", ["expires_at"])],
  },
);

/** Selects sessions of an owner. */
export type WhichSessions = { readonly sessionId: string } | "all";

/**
 * The sessions of all owners. Every method is atomic, even against concurrent calls of other processes. A change adds its audit entry in
 * the same transaction.
 */
export interface SessionStore extends SessionLookup {
  /**
   * Adds a session. Ends sessions of earlier custody addresses of its owner, and the oldest ones above `cap`. Returns false, without a
   * change, if the owner has acted by a later custody address.
   */
  create(session: Session, cap: number, audit: AuditEntry): Promise<boolean>;
  /** Lists the unexpired sessions of an owner, newest first. */
  listByOwner(ownerFid: number, nowSecs: number): Promise<Session[]>;
  /** Ends sessions of an owner. Returns whether there were any. */
  end(ownerFid: number, which: WhichSessions, audit: AuditEntry): Promise<boolean>;
}

const codec = recordCodec(sessions);
const select = `SELECT ${codec.columns} FROM sessions`;
const byId = sql<Row<typeof sessions>, [sessionId: string, nowSecs: number]>(
  "sessions.find",
  `${select} WHERE session_id = $1 AND expires_at > latest($2)`,
);
const byOwner = sql<Row<typeof sessions>, [ownerFid: number, nowSecs: number]>(
  "sessions.by-owner",
  `${select} WHERE owner_fid = $1 AND expires_at > latest($2) ORDER BY seq DESC`,
);
const insert = sql<unknown, SqlValue[]>("sessions.insert", codec.insert);
/** Ends all sessions of an owner except the newest `kept` live ones of a custody address. */
const endOthers = sql<unknown, [ownerFid: number, custody: Uint8Array, nowSecs: number, kept: number]>(
  "sessions.end-others",
  `DELETE FROM sessions WHERE owner_fid = $1 AND seq NOT IN
   (SELECT s.seq FROM sessions s WHERE s.owner_fid = $1 AND s.custody = $2 AND s.expires_at > $3
    ORDER BY s.seq DESC LIMIT $4)`,
);
const endOne = sql<unknown, [sessionId: string, ownerFid: number]>(
  "sessions.end",
  "DELETE FROM sessions WHERE session_id = $1 AND owner_fid = $2",
);
const endAll = sql<unknown, [ownerFid: number]>(
  "sessions.end-all",
  "DELETE FROM sessions WHERE owner_fid = $1",
);
const setUsed = sql<unknown, [nowSecs: number, sessionId: string]>(
  "sessions.mark-used",
  "UPDATE sessions SET last_used_at = $1 WHERE session_id = $2 AND (last_used_at IS NULL OR last_used_at < $1)",
);
const deleteExpired = sql<unknown, [nowSecs: number, max: number]>(
  "sessions.sweep",
  `DELETE FROM sessions WHERE seq IN
   (SELECT s.seq FROM sessions s WHERE s.expires_at < $1 ORDER BY s.expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

export function createSessions(db: StateDb): SessionStore {
  return {
    async find(sessionId, nowSecs) {
      const row = await db.get(byId, sessionId, nowSecs);
      return row && codec.toRecord(row);
    },
    listByOwner: async (ownerFid, nowSecs) => (await db.all(byOwner, ownerFid, nowSecs)).map(codec.toRecord),

    create: db.decision<Parameters<SessionStore["create"]>, boolean>(
      "sessions.create",
      async (tx, session, cap, audit) => {
        const { ownerFid, custody, createdAt } = session;
        await tx.lock("owner", `sessions:${ownerFid}`);
        if (await hasMoved(tx, ownerFid, custody)) return false;
        await tx.run(endOthers, ownerFid, custody, createdAt, cap - 1);
        await tx.run(insert, ...codec.values(session));
        await addAuditEntry(tx, audit);
        return true;
      },
    ),

    end: db.decision<[ownerFid: number, which: WhichSessions, audit: AuditEntry], boolean>(
      "sessions.end",
      async (tx, ownerFid, which, audit) => {
        await tx.lock("owner", `sessions:${ownerFid}`);
        const ended =
          which === "all" ? await tx.run(endAll, ownerFid) : await tx.run(endOne, which.sessionId, ownerFid);
        if (ended > 0) await addAuditEntry(tx, audit);
        return ended > 0;
      },
    ),

    markUsed: db.decision(
      "sessions.markUsed",
      async (tx, sessionId: string, nowSecs: number) => {
        await tx.run(setUsed, nowSecs, sessionId);
      },
      { isOneStatement: true },
    ),
  };
}

export function sessionSweep(db: StateDb): Sweep {
  return db.sweep("sessions", (tx, maxRows) => tx.run(deleteExpired, tx.clock.sweepableSecs(), maxRows));
}
