import { ApiError, pausedByOperator, wrongOp } from "../http/errors.ts";
import { nowSecs } from "../runtime/clock.ts";
import type { Session, SessionLookup } from "./session.ts";
import { isSignedBySession, mayUse, type SessionRule } from "./session.ts";
import { createSessionHeadersReader } from "./signed-headers.ts";
import type { AuthDeps } from "./verify.ts";

/** Verifies a request with session headers. */
export type VerifySession = (request: {
  readonly method: string;
  /** The canonical URL, with the query as received. */
  readonly url: string;
  readonly headers: Headers;
  /** Reads the body. Called only after all checks that do not need it have passed. */
  readonly body: () => Promise<Uint8Array>;
  readonly operation: { readonly op: string; readonly session?: SessionRule | undefined };
}) => Promise<Session>;

/**
 * How far the time of a request may differ from the clock, in either direction. The key signs without asking a person, so no delay is
 * expected.
 */
const WINDOW_SECS = 60;
/** How far the recorded last use may lag. */
const USE_LAG_SECS = 60;
/** Sessions whose last recorded use is remembered. */
const MAX_MARKED = 4_096;

const unauthorized = (message: string) => new ApiError("unauthorized", message);
const ended = (message: string) => new ApiError("unauthorized", message, { code: "session_ended" });

/**
 * Creates the verifier of requests signed by a session's key. The checks run in the order of the contract. Each request reads the session
 * from the store, so that once a session has ended all workers and nodes refuse it. A request that fails a check stores nothing. Reads
 * spend no nonce: repeating one within a minute only shows the same again.
 */
export function createVerifySession(deps: AuthDeps, sessions: SessionLookup): VerifySession {
  const { names, clock, stateClock, nonces, owners, staleReason, isPaused } = deps;
  const readHeaders = createSessionHeadersReader(names);
  // Nonces of both kinds share a table, and with it the time until which it is complete.
  const nonceSecs = Math.max(deps.windowSecs, WINDOW_SECS);

  const marked = new Map<string, number>();

  /**
   * Requests do not wait for this, and a use that is not recorded is not a fault. Marks are not queued while the state does not respond.
   */
  function markUsed({ sessionId, lastUsedAt }: Session, now: number): void {
    const last = Math.max(lastUsedAt ?? 0, marked.get(sessionId) ?? 0);
    if (now - last < USE_LAG_SECS) return;
    if (marked.size >= MAX_MARKED) marked.clear();
    marked.set(sessionId, now);
    sessions.markUsed(sessionId, now).catch(() => undefined);
  }

  return async ({ method, url, headers, body: readBody, operation }) => {
    if (isPaused()) throw pausedByOperator("signed operations");
    const { sessionId, fid, op, signedAt, nonce, signature } = readHeaders(headers);
    const now = nowSecs(clock);
    if (Math.abs(now - signedAt) > WINDOW_SECS) {
      throw unauthorized(`signed at more than ${WINDOW_SECS} seconds from the server's time`);
    }
    const findSession = async (): Promise<Session> => {
      const stateNow = nowSecs(stateClock);
      const session = await sessions.find(sessionId, stateNow);
      // A session from the future was created while the clock was wrong, so its real end is unknown.
      if (!session || session.ownerFid !== fid || session.createdAt > stateNow + WINDOW_SECS)
        throw ended("the session is unknown or has ended");
      return session;
    };
    const found = await findSession();
    const body = await readBody();
    // It may have ended while the body arrived.
    const session = body.byteLength === 0 ? found : await findSession();
    const stale = await staleReason();
    if (stale !== undefined) throw new ApiError("unavailable", `signed operations have to wait: ${stale}`);
    const isOwner = await owners.isOwner(fid, session.custody);
    if (isOwner === undefined) throw unauthorized("unknown fid");
    if (!isOwner) throw ended("the session ended when the fid got another custody address");
    const message = {
      service: names.segment,
      sessionId,
      method,
      path: signedPath(url),
      op,
      signedAt,
      nonce,
      body,
    };
    if (!isSignedBySession(session.publicKey, message, signature)) {
      throw unauthorized("signature is not by the key of the session");
    }
    if (op !== operation.op) {
      throw wrongOp(operation.op);
    }
    if (!mayUse(operation.session, session, { url, body })) {
      throw new ApiError("forbidden", "this needs the custody wallet", { code: "needs_custody" });
    }
    if (operation.session?.access === "operate") {
      const spent = { fid, nonce: Uint8Array.from(Buffer.from(nonce.slice(2), "hex")) };
      const times = { nowSecs: now, validUntil: signedAt + nonceSecs, expiresAt: now + 2 * nonceSecs };
      if (!(await nonces.spend(spent, times))) throw unauthorized("nonce was used before");
    }
    markUsed(session, nowSecs(stateClock));
    return session;
  };
}

/** Returns the path from `/v2/` on, with the query: a proxy may have added a prefix. */
function signedPath(url: string): string {
  return url.slice(url.indexOf("/v2/"));
}
