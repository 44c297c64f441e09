import type { Session, SessionAccess } from "../auth/sessions/session.ts";

/** A row of the table `sessions`, in every database of the state. */
export interface SessionRow {
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

/** The columns of a `SessionRow`, in the order of `sessionValues`. */
export const SESSION_COLUMNS =
  "session_id, owner_fid, public_key, custody, access, label, origin, created_at, expires_at, last_used_at";

export type SessionValues = [
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

export function sessionValues(session: Session): SessionValues {
  const { sessionId, ownerFid, publicKey, custody, access, label, origin } = session;
  const { createdAt, expiresAt, lastUsedAt } = session;
  return [sessionId, ownerFid, publicKey, custody, access, label, origin, createdAt, expiresAt, lastUsedAt];
}

export function toSession(row: SessionRow): Session {
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
