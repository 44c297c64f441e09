import { setImmediate } from "node:timers/promises";
import { keccak_256 } from "@noble/hashes/sha3.js";
import type { Scope } from "../http/caller.ts";
import { ApiError, pausedByOperator } from "../http/errors.ts";
import { callerOf, clientKeyOf, exchangeOf } from "../http/exchange.ts";
import { checkBeforeBody, rawBody, readBody, refuseDeclaredSize } from "../http/request/body.ts";
import { parseFid } from "../http/request/params.ts";
import { parseQueryString } from "../http/request/query-string.ts";
import { type Access, OPEN } from "../http/route-terms.ts";
import { type Session, type SessionRule, withoutSecrets } from "./session.ts";
import { type AuthDeps, createVerify, type SigningOwner } from "./verify.ts";
import { createVerifySession } from "./verify-session.ts";

/** How a request must be signed. */
export interface SignatureRule {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The operation name that the signature must contain. */
  readonly op: string;
  /**
   * Maximum size of the body in bytes; the limit of the path if omitted. A larger body is rejected with 413 before it
   * is read.
   */
  readonly maxBodyBytes?: number | undefined;
  /**
   * Which sessions may sign it: `read` for requests that show no secret and change nothing, `operate` for those that can be undone or are
   * only tests. Undefined: none, because everything else needs the custody address.
   */
  readonly session?: SessionRule | undefined;
}

/**
 * A request that is authorized for its fid by an unused nonce with a signature of the custody address, by the key of a session that may
 * make it, or, in the compat dialect, by an API key of the fid.
 */
export interface SignedRequest {
  readonly fid: number;
  /** The custody address that signed it or created the session or key, 20 bytes. What the request creates is bound to it. */
  readonly custody: Uint8Array;
  readonly rawBody: Uint8Array;
  /** The path segment of the API's prefix, for example `farcaster`. */
  readonly prefix: string;
  /** The API key that acts for the fid; null for a signature. */
  readonly apiKeyId: string | null;
  /** Whether the custody address itself has signed it, rather than a session or key acting for it. */
  readonly isByCustody: boolean;
  readonly requestId: string;
  /** The client's address. */
  readonly address: string;
  readonly headers: Headers;
}

interface RequestContext {
  readonly request: Request;
}

/** The hooks of a route that accepts signed requests only. */
interface SignedHooks {
  /** Parse hook. Verifies the signature, spends the nonce, and reads the body after all checks that need only the headers. */
  readonly captureBody: (context: RequestContext) => Promise<Uint8Array>;
  /** First transform hook, which does the same for a request without a body. */
  readonly verify: (context: RequestContext) => Promise<void>;
  /**
   * Runs a handler on a verified request, logs a change, and removes the texts of secrets from a response to a session.
   *
   * @param route the template of the whole path, for example `/v2/farcaster/webhook`
   */
  readonly execute: (
    context: RequestContext & { readonly route: string },
    handle: (signed: SignedRequest) => unknown,
  ) => Promise<unknown>;
}

/** Returns the hooks of a rule. `isOff`: a setting has disabled the route. */
export type Signing = (rule: SignatureRule, isOff?: boolean) => SignedHooks;

/** Who signed a request. */
interface Verified extends SigningOwner {
  readonly apiKeyId?: string;
  readonly session?: Session;
}

export function createSigning(auth: AuthDeps): Signing {
  const verify = createVerify(auth);
  const verifySession = auth.sessions && createVerifySession(auth, auth.sessions);
  const sessionHeader = `${auth.names.headerPrefix}Session`;
  const verified = new WeakMap<Request, Verified>();

  return (rule, isOff = false) => {
    const { method, op, maxBodyBytes = Number.POSITIVE_INFINITY } = rule;
    // The router reads no body of a GET.
    const limitOf = (request: Request) => Math.min(maxBodyBytes, exchangeOf(request).policy.maxBodyBytes);
    const bodyOf = async (request: Request) =>
      method === "GET" ? rawBody(request) : readBody(request, limitOf(request));

    async function verifySignature({ request }: RequestContext): Promise<void> {
      if (verified.has(request)) return;
      if (isOff) throw new ApiError("notFound");
      const { method: sentMethod, url, headers } = request;
      if (verifySession && headers.has(sessionHeader)) {
        const signed = { method: sentMethod, url, headers, body: () => bodyOf(request) };
        const session = await verifySession({ ...signed, operation: rule });
        verified.set(request, { fid: session.ownerFid, custody: session.custody, session });
        return;
      }
      const caller = callerOf(request);
      if (caller.kind === "apiKey") {
        if (auth.isPaused()) throw pausedByOperator("signed operations");
        requireOwner(request, caller.ownerFid);
        const { ownerFid: fid, custody, apiKeyId } = caller;
        verified.set(request, { fid, custody, apiKeyId });
        return;
      }
      const bodyHash = async () => hashBody(await bodyOf(request));
      const client = clientKeyOf(exchangeOf(request));
      verified.set(request, await verify({ headers, bodyHash, op, client }));
    }

    return {
      verify: verifySignature,

      async captureBody({ request }) {
        await refuseDeclaredSize(request, limitOf(request));
        await checkBeforeBody(request, () => verifySignature({ request }));
        return bodyOf(request);
      },

      async execute({ request, route }, handle) {
        const owner = verified.get(request);
        if (!owner) throw new Error(`${op} was reached without a verified signature`);
        const { fid, custody, session, apiKeyId = null } = owner;
        const { requestId, client, caller } = exchangeOf(request);
        const response = await handle({
          fid,
          custody,
          rawBody: rawBody(request),
          prefix: route.split("/")[2] ?? "",
          apiKeyId,
          isByCustody: session === undefined && apiKeyId === null,
          requestId,
          address: client().address,
          headers: request.headers,
        });
        if (method !== "GET") {
          const key = caller.kind === "apiKey" ? { apiKeyPrefix: caller.prefix } : {};
          const by = session === undefined ? key : { sessionId: session.sessionId };
          auth.log.info({ op, fid, requestId, ...by }, "Executed a signed operation");
        }
        return session === undefined ? response : withoutSecrets(response);
      },
    };
  };
}

/** The scopes of keys that may replace the owner's signature, by kind of record. No key manages keys. */
const SCOPE_OF_RECORDS: Readonly<Record<string, Scope>> = { app: "apps", webhook: "webhooks" };

/** Returns the credential that an operation requires. */
export function accessOf(op: string): Access {
  const scope = SCOPE_OF_RECORDS[op.split(".", 1)[0] ?? ""];
  return scope === undefined ? OPEN : { kind: "signatureOrKey", scope };
}

/** Refuses a request that names an owner other than that of the key. */
function requireOwner(request: Request, ownerFid: number): void {
  const named = parseQueryString(request.url).owner_fid ?? [];
  if (named.every((fid) => parseFid(fid) === ownerFid)) return;
  throw new ApiError("forbidden", "owner_fid must be the owner of the key");
}

/** Hashing a slice takes about a millisecond; other tasks run between two slices. */
const SLICE_BYTES = 16 * 1024;

/** Computes the keccak256 of a body, 32 bytes. Large bodies are hashed in slices that yield to the event loop. */
export async function hashBody(body: Uint8Array): Promise<Uint8Array> {
  if (body.byteLength <= SLICE_BYTES) return keccak_256(body);
  const hash = keccak_256.create();
  for (let offset = 0; offset < body.byteLength; offset += SLICE_BYTES) {
    hash.update(body.subarray(offset, offset + SLICE_BYTES));
    await setImmediate();
  }
  return hash.digest();
}
