import { Type } from "@sinclair/typebox";
import type { AuditEntry } from "../audit/audit-store.ts";
import { CUSTODY_MOVED } from "../auth/owners/custody.ts";
import { SESSION_ACCESS, type Session, type SessionAccess } from "../auth/session.ts";
import type { SigningOwner } from "../auth/verify.ts";
import type { OwnOrigin } from "../http/request/own-origin.ts";
import { randomBase58 } from "../lib/base58.ts";
import { ok, type Result } from "../lib/result.ts";
import { badField, type Refusal, refused } from "../management/refusal.ts";
import { checked, schemaReader, Text } from "../management/request-schema.ts";
import { hasSmallOrder } from "../protocol/validate/ed25519.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { SessionStore, WhichSessions } from "./session-store.ts";

const PUBLIC_KEY = /^0x[0-9a-fA-F]{64}$/;
const MAX_ORIGIN_CHARS = 300;

const PublicKey = checked<`0x${string}`>(
  { type: "string", pattern: PUBLIC_KEY.source, description: "The Ed25519 public key of the session" },
  (value) => {
    if (typeof value !== "string" || !PUBLIC_KEY.test(value)) return "must be 0x and 64 hexadecimal digits";
    return hasSmallOrder(Buffer.from(value.slice(2), "hex"))
      ? "is a key that anybody can sign for"
      : undefined;
  },
);

const Access = checked<SessionAccess>(
  {
    type: "string",
    enum: [...SESSION_ACCESS],
    description:
      "`read` shows records without their secrets. `operate` also tests webhooks, replays deliveries, and switches webhooks on and off",
  },
  (value) =>
    SESSION_ACCESS.some((access) => access === value) ? undefined : `must be ${SESSION_ACCESS.join(" or ")}`,
);

const Origin = checked<string>(
  { type: "string", maxLength: MAX_ORIGIN_CHARS, description: "Origin of the page that it is for" },
  (value) => (isOrigin(value) ? undefined : "must be the origin of a page, such as https://node.example"),
);

/** The body of a request that creates a session. `ttl_secs` is bounded by the service. */
export const CreateSessionRequest = Type.Object(
  {
    public_key: PublicKey,
    access: Access,
    ttl_secs: Type.Optional(
      checked<number>(
        { type: "integer", minimum: 1, description: "At most `auth.session_ttl_secs`, which is the default" },
        (value) =>
          Number.isSafeInteger(value) && Number(value) > 0 ? undefined : "must be a whole number of seconds",
      ),
    ),
    label: Text({ min: 1, max: 64, description: "By which its owner knows it" }),
    origin: Origin,
  },
  { $id: "CreateSessionRequest" },
);

function isOrigin(value: unknown): boolean {
  if (typeof value !== "string" || value.length > MAX_ORIGIN_CHARS) return false;
  const url = URL.parse(value);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === value;
}

const ID_CHARS = 16;
/** Maximum number of live sessions of an fid. One more ends the oldest. */
const MAX_SESSIONS = 20;

/** The client that requests a change. */
export interface SessionActor extends SigningOwner {
  readonly requestId: string;
  /** The client's address. */
  readonly address: string;
  /** The headers of the request. */
  readonly headers: Headers;
}

/** The sessions of an fid, for the owner of its custody address. The audit log records each change. */
export type SessionService = ReturnType<typeof createSessionService>;

const readCreate = schemaReader(CreateSessionRequest);

export function createSessionService(deps: {
  readonly store: SessionStore;
  readonly clock: Clock;
  /** `auth.session_ttl_secs`. */
  readonly maxTtlSecs: number;
  readonly ownOrigin: OwnOrigin;
}) {
  const { store, clock, ownOrigin } = deps;

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
    async create(actor: SessionActor, body: unknown): Promise<Result<Session, Refusal>> {
      const { fid, custody, headers } = actor;
      const request = readCreate(body);
      if (!request.ok) return request;
      const { maxTtlSecs } = deps;
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
      const isCreated = await store.create(session, MAX_SESSIONS, auditOf("session.create", actor));
      return isCreated ? ok(session) : refused("unauthorized", CUSTODY_MOVED);
    },

    /** Lists the live sessions of a custody address, newest first. */
    async list({ fid, custody }: SigningOwner): Promise<Session[]> {
      const sessions = await store.listByOwner(fid, nowSecs(clock));
      return sessions.filter((session) => Buffer.compare(session.custody, custody) === 0);
    },

    async end(actor: SessionActor, which: WhichSessions): Promise<Result<undefined, Refusal>> {
      const hasEnded = await store.end(actor.fid, which, auditOf("session.delete", actor));
      return hasEnded || which === "all" ? ok(undefined) : refused("notFound", "no such session");
    },
  };
}
