import { type AuditEntry, addAuditEntry } from "../audit/audit-store.ts";
import type { Session, SessionAccess, SessionLookup } from "../auth/sessions/session.ts";
import { sql } from "../db/state/sql.ts";
import type { StateDb } from "../db/state/state-db.ts";
import type { Sweep } from "../db/state/sweep.ts";

/** Which sessions of an owner. */
export type WhichSessions = { readonly sessionId: string } | "all";

/**
 * The sessions of all owners. Every method is atomic, also against concurrent calls of other processes. A change adds its entry to the
 * audit log in its transaction.
 */
export interface SessionStore extends SessionLookup {
  /** Adds a session. It ends those of earlier custody addresses of its owner, and the oldest ones above `cap`. */
  create(session: Session, cap: number, audit: AuditEntry): Promise<void>;
  /** The unexpired sessions of an owner, the newest first. */
  listByOwner(ownerFid: number, nowSecs: number): Promise<Session[]>;
  /** Ends sessions of an owner; whether there were any. */
  end(ownerFid: number, which: WhichSessions, audit: AuditEntry): Promise<boolean>;
}

interface SessionRow {
  readonly session_id: string;
  readonly owner_fid: number;
  readonly public_key: Uint8Array;
  readonly custody: Uint8Array;
  readonly access: SessionAccess;
  readonly label: string;
  readonly origin: string;
  readonly created_at: number;
  readonly expires_at: number;
  readonly last_used_at: number | null;
}

const COLUMNS =
  "session_id, owner_fid, public_key, custody, access, label, origin, created_at, expires_at, last_used_at";

const byId = sql<SessionRow, [sessionId: string, nowSecs: number]>(
  "sessions.find",
  `SELECT ${COLUMNS} FROM sessions WHERE session_id = $1 AND expires_at > latest($2)`,
);
const byOwner = sql<SessionRow, [ownerFid: number, nowSecs: number]>(
  "sessions.by-owner",
  `SELECT ${COLUMNS} FROM sessions WHERE owner_fid = $1 AND expires_at > latest($2) ORDER BY seq DESC`,
);
type SessionValues = [
  sessionId: string,
  ownerFid: number,
  publicKey: Uint8Array,
  custody: Uint8Array,
  access: string,
  label: string,
  origin: string,
  createdAt: number,
  expiresAt: number,
  lastUsedAt: number | null,
];
const insert = sql<unknown, SessionValues>(
  "sessions.insert",
  `INSERT INTO sessions (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);
/** Ends all sessions of an owner but the newest `kept` live ones of a custody address. */
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
      return row && toSession(row);
    },
    listByOwner: async (ownerFid, nowSecs) => (await db.all(byOwner, ownerFid, nowSecs)).map(toSession),

    create: db.decision("sessions.create", async (tx, session: Session, cap: number, audit: AuditEntry) => {
      const { ownerFid, custody, createdAt } = session;
      await tx.lock("owner", `sessions:${ownerFid}`);
      // It would count as one of the others, and another one more would end.
      if (tx.isRepeated && (await tx.get(byId, session.sessionId, createdAt))) return;
      await tx.run(endOthers, ownerFid, custody, createdAt, cap - 1);
      await tx.run(insert, ...valuesOf(session));
      await addAuditEntry(tx, audit);
    }),

    end: db.decision<[ownerFid: number, which: WhichSessions, audit: AuditEntry], boolean>(
      "sessions.end",
      async (tx, ownerFid, which, audit) => {
        await tx.lock("owner", `sessions:${ownerFid}`);
        const ended =
          which === "all" ? await tx.run(endAll, ownerFid) : await tx.run(endOne, which.sessionId, ownerFid);
        if (ended > 0) await addAuditEntry(tx, audit);
        return ended > 0 || tx.earlier === true;
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

function valuesOf(session: Session): SessionValues {
  const { sessionId, ownerFid, publicKey, custody, access, label, origin } = session;
  const { createdAt, expiresAt, lastUsedAt } = session;
  return [sessionId, ownerFid, publicKey, custody, access, label, origin, createdAt, expiresAt, lastUsedAt];
}

function toSession(row: SessionRow): Session {
  return {
    sessionId: row.session_id,
    ownerFid: row.owner_fid,
    publicKey: new Uint8Array(row.public_key),
    custody: new Uint8Array(row.custody),
    access: row.access,
    label: row.label,
    origin: row.origin,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
  };
}
