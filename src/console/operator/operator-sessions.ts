import { timingSafeEqual } from "node:crypto";
import { isSignedBySession, type SessionMessage } from "../../auth/session.ts";
import { secretDigest } from "../../db/state/secret.ts";
import { ApiError, type ErrorName, wrongOp } from "../../http/errors.ts";
import { randomBase58 } from "../../lib/base58.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";

/** Why the operator's part refuses a request. Plain data, because it is passed between threads. */
export interface OperatorRefusal {
  readonly kind: ErrorName;
  readonly message: string;
  readonly retryAfterSecs?: number;
}

export function refuse(kind: ErrorName, message: string, retryAfterSecs?: number) {
  return err<OperatorRefusal>({ kind, message, ...(retryAfterSecs === undefined ? {} : { retryAfterSecs }) });
}

/** @throws ApiError for a refusal */
export function unwrapOperator<T>(result: Result<T, OperatorRefusal>): T {
  if (result.ok) return result.value;
  const { kind, message, retryAfterSecs } = result.error;
  throw new ApiError(kind, message, retryAfterSecs === undefined ? {} : { retryAfterSecs });
}

const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;
/** Beyond this, the oldest client is forgotten. The secrets are far too long for guessing to benefit from that. */
const MAX_CLIENTS = 1024;

/** @param monotonicMs default: the process's monotonic clock. */
function createAttemptLimit(monotonicMs: () => number = () => performance.now()) {
  const failures = new Map<string, { sinceMs: number; count: number }>();

  const recent = (client: string) => {
    const found = failures.get(client);
    if (found === undefined || monotonicMs() - found.sinceMs < WINDOW_MS) return found;
    failures.delete(client);
    return undefined;
  };

  return {
    /** Returns the seconds until a client may try again; undefined if it may now. */
    waitSecs(client: string): number | undefined {
      const found = recent(client);
      if (found === undefined || found.count < MAX_FAILURES) return undefined;
      return Math.max(1, Math.ceil((found.sinceMs + WINDOW_MS - monotonicMs()) / 1000));
    },
    countFailure(client: string): void {
      const found = recent(client);
      if (found) {
        found.count += 1;
        return;
      }
      failures.set(client, { sinceMs: monotonicMs(), count: 1 });
      const [oldest] = failures.keys();
      if (failures.size > MAX_CLIENTS && oldest !== undefined) failures.delete(oldest);
    },
  };
}

/** A code with which a page opens one session. */
export interface IssuedCode {
  readonly code: string;
  readonly expires_in: number;
}

/** A session of the operator's page, which ends with the process. */
export interface OperatorSession {
  readonly session_id: string;
  /** Unix seconds. */
  readonly expires_at: number;
  readonly node: string;
}

/** A request that a page has signed with the key of its session. */
export interface OperatorRequest {
  readonly message: SessionMessage;
  readonly fid: number;
  readonly signature: Uint8Array;
  /** The operation of the requested method and path. */
  readonly op: string;
  /** Whether the request must be accepted only once, because it changes something. */
  readonly isOnce: boolean;
}

/** The operator's codes and sessions. */
export interface OperatorSessions {
  /** @param client the client whose wrong tokens are counted */
  checkToken(token: string, client: string): Result<null, OperatorRefusal>;
  /** @param client the client whose wrong tokens are counted */
  issueCode(token: string, client: string): Result<IssuedCode, OperatorRefusal>;
  /** Issues a code for the terminal of the process itself, which needs no token. */
  issueSetUpCode(): string;
  /** Opens a session. A code can be used only once. */
  open(code: string, publicKey: Uint8Array, client: string): Result<OperatorSession, OperatorRefusal>;
  admit(request: OperatorRequest): Promise<Result<null, OperatorRefusal>>;
  end(sessionId: string): void;
}

export interface OperatorSessionsDeps {
  /** The operator's secret; undefined if there is none, so that nothing can be unlocked. */
  readonly token: string | undefined;
  readonly nodeId: string;
  readonly clock: Clock;
  /** Default: the process's monotonic clock. */
  readonly monotonicMs?: () => number;
}

const CODE_CHARS = 24;
const CODE_TTL_MS = 60_000;
const SET_UP_TTL_MS = 15 * 60_000;
const SESSION_ID_CHARS = 16;
const SESSION_TTL_MS = 12 * 3_600_000;
/** One more ends the oldest. */
const MAX_CODES = 16;
const MAX_SESSIONS = 16;
const WINDOW_SECS = 60;
/** More changes than an operator makes in two windows. */
const MAX_NONCES = 1_000;
const PUBLIC_KEY_BYTES = 32;

interface Session {
  readonly publicKey: Uint8Array;
  readonly endsAtMs: number;
  /** Nonces of changes, with the unix second from which on their request is refused anyway because of its time. */
  readonly nonces: Map<string, number>;
}

/** Creates the codes and sessions of one process, in memory. */
export function createOperatorSessions(deps: OperatorSessionsDeps): OperatorSessions {
  const { token, nodeId, clock, monotonicMs = () => performance.now() } = deps;
  const attempts = createAttemptLimit(monotonicMs);
  /** Codes by digest, so that the time of a lookup reveals nothing about them. */
  const codes = new Map<string, number>();
  const sessions = new Map<string, Session>();
  const tokenDigest = token === undefined ? undefined : secretDigest(token);

  /**
   * Refuses a wrong code or token. Only wrong ones are rate limited: behind a proxy many clients share an address, and a stranger there
   * must not lock the operator out. A code and the token of a node have at least 140 bits, so guessing is hopeless.
   */
  const wrong = (client: string, message: string) => {
    const waitSecs = attempts.waitSecs(client);
    if (waitSecs !== undefined)
      return refuse("tooManyRequests", "too many wrong codes or tokens: wait a minute", waitSecs);
    attempts.countFailure(client);
    return refuse("unauthorized", message);
  };
  const live = (sessionId: string) => {
    const session = sessions.get(sessionId);
    if (session === undefined || monotonicMs() < session.endsAtMs) return session;
    sessions.delete(sessionId);
    return undefined;
  };

  const checkToken: OperatorSessions["checkToken"] = (given, client) => {
    if (tokenDigest === undefined)
      return refuse("unavailable", "this node could not write operator.token: its log says why");
    return timingSafeEqual(secretDigest(given), tokenDigest)
      ? ok(null)
      : wrong(client, "the operator token is not that of this node");
  };

  const issue = (ttlMs: number): string => {
    const code = randomBase58(CODE_CHARS);
    codes.set(keyOf(code), monotonicMs() + ttlMs);
    dropOldest(codes, MAX_CODES);
    return code;
  };

  return {
    checkToken,

    issueCode(given, client) {
      const checked = checkToken(given, client);
      if (!checked.ok) return checked;
      return ok({ code: issue(CODE_TTL_MS), expires_in: CODE_TTL_MS / 1000 });
    },
    issueSetUpCode: () => issue(SET_UP_TTL_MS),

    open(code, publicKey, client) {
      if (publicKey.length !== PUBLIC_KEY_BYTES) return refuse("badRequest", "public_key must have 32 bytes");
      const endsAtMs = codes.get(keyOf(code));
      codes.delete(keyOf(code));
      if (endsAtMs === undefined || monotonicMs() >= endsAtMs)
        return wrong(client, "the code is wrong, was used, or is too old");
      const sessionId = randomBase58(SESSION_ID_CHARS);
      sessions.set(sessionId, {
        publicKey,
        endsAtMs: monotonicMs() + SESSION_TTL_MS,
        nonces: new Map(),
      });
      dropOldest(sessions, MAX_SESSIONS);
      return ok({
        session_id: sessionId,
        expires_at: nowSecs(clock) + SESSION_TTL_MS / 1000,
        node: nodeId,
      });
    },

    async admit({ message, fid, signature, op, isOnce }) {
      const now = nowSecs(clock);
      if (Math.abs(now - message.signedAt) > WINDOW_SECS)
        return refuse("unauthorized", `signed at more than ${WINDOW_SECS} seconds from the server's time`);
      const session = live(message.sessionId);
      // Behind a load balancer, another node may have it; a header of each response contains the node that responded.
      if (!session || fid !== 0)
        return refuse("unauthorized", `node ${nodeId} has no such operator session, or it has ended`);
      if (!isSignedBySession(session.publicKey, message, signature))
        return refuse("unauthorized", "signature is not valid");
      if (message.op !== op) return refuse("badRequest", wrongOp(op).message);
      return isOnce ? spendNonce(session, message, now) : ok(null);
    },

    end(sessionId) {
      sessions.delete(sessionId);
    },
  };
}

function spendNonce(
  { nonces }: Session,
  { nonce, signedAt }: SessionMessage,
  now: number,
): Result<null, OperatorRefusal> {
  for (const [spent, until] of nonces) if (until < now) nonces.delete(spent);
  if (nonces.has(nonce)) return refuse("unauthorized", "nonce was used before");
  if (nonces.size >= MAX_NONCES)
    return err({ kind: "tooManyRequests", message: "too many changes: wait a minute", retryAfterSecs: 60 });
  nonces.set(nonce, signedAt + WINDOW_SECS);
  return ok(null);
}

function keyOf(code: string): string {
  return secretDigest(code).toString("hex");
}

function dropOldest(map: Map<string, unknown>, max: number): void {
  for (const key of map.keys()) {
    if (map.size <= max) return;
    map.delete(key);
  }
}
