import type { AuditEntry } from "../audit/audit-store.ts";
import type { CustodyOf } from "../auth/custody.ts";
import type { Session } from "../auth/sessions/session.ts";
import type { OwnOrigin } from "../http/own-origin.ts";
import { randomBase58 } from "../lib/random-base58.ts";
import { ok, type Result } from "../lib/result.ts";
import { badField, type Refusal, refused } from "../management/refusal.ts";
import { schemaReader } from "../management/request-schema.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { CreateSessionRequest } from "./session-requests.ts";
import type { SessionStore, WhichSessions } from "./session-store.ts";

const ID_CHARS = 16;
/** Live sessions of an fid. One more ends the oldest. */
const MAX_SESSIONS = 20;

/** The client that asks for a change. */
export interface SessionActor {
  readonly fid: number;
  readonly requestId: string;
  /** The client's address. */
  readonly address: string;
  /** Those of the request. */
  readonly headers: Headers;
}

/** The sessions of an fid, for the owner of its custody address. The audit log names each change. */
export interface SessionService {
  create(actor: SessionActor, body: unknown): Promise<Result<Session, Refusal>>;
  /** The live ones, the newest first. */
  list(fid: number): Promise<Session[]>;
  end(actor: SessionActor, which: WhichSessions): Promise<Result<undefined, Refusal>>;
}

const readCreate = schemaReader(CreateSessionRequest);

export function createSessionService(deps: {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly custodyOf: CustodyOf;
  /** `auth.session_ttl_secs`. */
  readonly maxTtlSecs: number;
  readonly ownOrigin: OwnOrigin;
}): SessionService {
  const { store, clock, custodyOf, maxTtlSecs, ownOrigin } = deps;

  const auditOf = (action: string, { fid, requestId, address }: SessionActor): AuditEntry => ({
    atMs: clock.nowMs(),
    ownerFid: fid,
    action,
    apiKeyId: null,
    signerUuid: null,
    userFid: null,
    hash: null,
    outcome: "ok",
    requestId,
    address,
  });

  return {
    async create(actor, body) {
      const { fid, headers } = actor;
      const request = readCreate(body);
      if (!request.ok) return request;
      const { public_key, access, ttl_secs: ttlSecs = maxTtlSecs, label, origin } = request.value;
      if (ttlSecs > maxTtlSecs) return badField(`ttl_secs must be at most ${maxTtlSecs}`);
      // A page of another site that has made an owner sign cannot send the request from a browser.
      const sentBy = headers.get("origin");
      if (!ownOrigin.isOwnOrigin(actor) || (sentBy !== null && sentBy !== origin)) {
        return refused(
          "forbidden",
          "a page may create a session only for itself, and only a page of this node",
        );
      }
      const custody = custodyOf(fid);
      if (!custody) return refused("unauthorized", "unknown fid");
      const now = nowSecs(clock);
      const session: Session = {
        sessionId: randomBase58(ID_CHARS),
        ownerFid: fid,
        publicKey: Uint8Array.from(Buffer.from(public_key.slice(2), "hex")),
        custody,
        access,
        label,
        origin,
        createdAt: now,
        expiresAt: now + ttlSecs,
        lastUsedAt: null,
      };
      await store.create(session, MAX_SESSIONS, auditOf("session.create", actor));
      return ok(session);
    },

    async list(fid) {
      const custody = custodyOf(fid);
      const sessions = await store.listByOwner(fid, nowSecs(clock));
      return sessions.filter((session) => custody && Buffer.compare(session.custody, custody) === 0);
    },

    async end(actor, which) {
      const hasEnded = await store.end(actor.fid, which, auditOf("session.delete", actor));
      return hasEnded || which === "all" ? ok(undefined) : refused("notFound", "no such session");
    },
  };
}
