import { type AuditStore, auditSweep, createAudit } from "../../audit/audit-store.ts";
import type { StateDb } from "../../db/state/state-db.ts";
import type { Sweep } from "../../db/state/sweep.ts";
import { createSessions, type SessionStore, sessionSweep } from "../../sessions/session-store.ts";

/** The stores that have one body for both databases. */
export interface SharedStores {
  readonly audit: AuditStore;
  readonly sessions: SessionStore;
}

export function createSharedStores(db: StateDb): SharedStores {
  return { audit: createAudit(db), sessions: createSessions(db) };
}

export function createSharedSweeps(db: StateDb): Sweep[] {
  return [auditSweep(db), sessionSweep(db)];
}
