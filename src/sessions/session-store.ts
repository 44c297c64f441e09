import type { AuditEntry } from "../audit/audit-store.ts";
import type { Session, SessionLookup } from "../auth/sessions/session.ts";

/** Of which sessions of an owner. */
export type WhichSessions = { readonly sessionId: string } | "all";

/**
 * The sessions of all owners. Every method is atomic, also against concurrent calls of other processes. A change adds its entry to the
 * audit log in its transaction.
 */
export interface SessionStore extends SessionLookup {
  /** Adds a session. It ends those of former custody addresses of its owner, and the oldest ones above `cap`. */
  create(session: Session, cap: number, audit: AuditEntry): Promise<void>;
  /** The unexpired sessions of an owner, the newest first. */
  listByOwner(ownerFid: number, nowSecs: number): Promise<Session[]>;
  /** Ends sessions of an owner; whether there were any. */
  end(ownerFid: number, which: WhichSessions, audit: AuditEntry): Promise<boolean>;
}
