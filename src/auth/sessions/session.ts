/** What the requests of a session may do: read, or also what can be undone or is only a try. */
export const SESSION_ACCESS = ["read", "operate"] as const;
export type SessionAccess = (typeof SESSION_ACCESS)[number];

/** A key that a custody address has let sign requests of its fid for a while. Times are unix seconds. */
export interface Session {
  /** 16 characters of base58. */
  readonly sessionId: string;
  readonly ownerFid: number;
  /** Ed25519, 32 bytes. */
  readonly publicKey: Uint8Array;
  /** The custody address that created it, 20 bytes. It is valid only while this is the address of the fid. */
  readonly custody: Uint8Array;
  readonly access: SessionAccess;
  readonly label: string;
  /** The origin of the page that the session was created for. */
  readonly origin: string;
  readonly createdAt: number;
  /** The first second at which it is invalid. */
  readonly expiresAt: number;
  /** May lag a minute behind. */
  readonly lastUsedAt: number | null;
}

/** What the verification of requests needs of the sessions. */
export interface SessionLookup {
  /** A session that has not expired, by `nowSecs` and by the state's own clock. */
  find(sessionId: string, nowSecs: number): Promise<Session | undefined>;
  markUsed(sessionId: string, nowSecs: number): Promise<void>;
}
