import { Kind, type TSchema, Type } from "@sinclair/typebox";
import { type AnyElysia, Elysia } from "elysia";
import { checkBeforeBody, rawBody, readBody, refuseDeclaredSize } from "../http/body.ts";
import type { Scope } from "../http/caller.ts";
import { ApiError, type ErrorName } from "../http/errors.ts";
import { callerOf, exchangeOf } from "../http/exchange.ts";
import { operation } from "../http/operation.ts";
import { type DecodedQuery, parseFid, type QueryParams } from "../http/params.ts";
import { pausedByOperator } from "../http/paused.ts";
import { parseQueryString } from "../http/query-string.ts";
import { type Access, OPEN } from "../http/route-terms.ts";
import { hashBody } from "./body-hash.ts";
import { type SignedOperation, type SignedOperationId, signedOperations } from "./op-table.ts";
import type { Session } from "./sessions/session.ts";
import { createVerifySession } from "./sessions/verify-session.ts";
import { withoutSecrets } from "./sessions/without-secrets.ts";
import { type AuthDeps, createVerify } from "./verify.ts";

interface SignedRouteSpec<Q extends QueryParams> {
  readonly summary: string;
  readonly description?: string;
  readonly query?: Q;
  /**
   * Schema of the JSON body for the document. The handler validates the fields, because an unknown or foreign record
   * is reported before an invalid field.
   */
  readonly body?: TSchema;
  readonly response: TSchema;
  /** Of a success. Default: 200. */
  readonly status?: number;
  readonly errors?: readonly ErrorName[];
}

/**
 * A request with a valid signature of its fid's custody address and an unused nonce, with one of the key of a session that may do it or,
 * in the compat dialect, with an API key of the fid.
 */
export interface SignedRequest<Q extends QueryParams> {
  readonly fid: number;
  readonly query: DecodedQuery<Q>;
  /** Any JSON; undefined if the route declares no body. */
  readonly body: unknown;
  readonly rawBody: Uint8Array;
  /** The path segment of the API's prefix, for example `farcaster`. */
  readonly prefix: string;
  /** The API key that acts for the fid; null for a signature. */
  readonly apiKeyId: string | null;
  readonly requestId: string;
  /** The client's address. */
  readonly address: string;
  readonly headers: Headers;
}

/** A group of routes that accept signed requests only. */
export interface SignedRoutes {
  readonly plugin: AnyElysia;
  /** Adds the route with this id from the operation table. */
  add<const Q extends QueryParams = Record<never, never>>(
    id: SignedOperationId,
    spec: SignedRouteSpec<Q>,
    handle: (request: SignedRequest<Q>) => Promise<unknown>,
  ): void;
}

interface HandlerContext {
  readonly request: Request;
  readonly query: unknown;
  readonly body: unknown;
  /** Template of the whole path, for example `/v2/farcaster/webhook`. */
  readonly route: string;
  readonly set: { status?: number | string };
}

/**
 * Creates a group of signed routes. The parse hook verifies the signature and spends the nonce; it reads the body once everything has
 * passed that the headers alone decide. For a request without a body the first transform does that. The next transform decodes query and
 * JSON.
 */
export function createSignedRoutes(
  auth: AuthDeps,
  group: {
    readonly name: string;
    readonly tag: string;
    /** Whether a setting has removed the routes; they stay in the document. */
    readonly isOff?: boolean;
  },
): SignedRoutes {
  const verify = createVerify(auth);
  const verifySession = auth.sessions && createVerifySession(auth, auth.sessions);
  const sessionHeader = `${auth.names.headerPrefix}Session`;
  const verified = new WeakMap<Request, Verified>();
  const plugin = new Elysia({ name: group.name });

  return {
    plugin,
    add(id, spec, handle) {
      const signedOperation: SignedOperation = signedOperations[id];
      const { method, path, op, maxBodyBytes = Number.POSITIVE_INFINITY } = signedOperation;
      // A GET has no body for the router.
      const limitOf = (request: Request) => Math.min(maxBodyBytes, exchangeOf(request).policy.maxBodyBytes);
      const bodyOf = async (request: Request) =>
        method === "GET" ? rawBody(request) : readBody(request, limitOf(request));
      const captureBody = async ({ request }: { readonly request: Request }) => {
        await refuseDeclaredSize(request, limitOf(request));
        await checkBeforeBody(request, () => verifySignature({ request }));
        return bodyOf(request);
      };
      const verifySignature = async ({ request }: { readonly request: Request }): Promise<void> => {
        if (verified.has(request)) return;
        if (group.isOff) throw new ApiError("notFound");
        const { method: sentMethod, url, headers } = request;
        if (verifySession && headers.has(sessionHeader)) {
          const signed = { method: sentMethod, url, headers, body: () => bodyOf(request) };
          const session = await verifySession({ ...signed, operation: signedOperation });
          verified.set(request, { fid: session.ownerFid, session });
          return;
        }
        const caller = callerOf(request);
        if (caller.kind === "apiKey") {
          if (auth.isPaused()) throw pausedByOperator("signed operations");
          requireOwner(request, caller.ownerFid);
          verified.set(request, { fid: caller.ownerFid, apiKeyId: caller.apiKeyId });
          return;
        }
        verified.set(request, {
          fid: await verify({ headers, bodyHash: async () => hashBody(await bodyOf(request)), op }),
        });
      };
      const { body, errors = [], status, response, ...rest } = spec;
      const hook = operation<QueryParams | undefined, TSchema | undefined>({
        operationId: id,
        tags: [group.tag],
        security: signedOperation.session ? "signedOperationOrSession" : "signedOperation",
        access: accessOf(op),
        share: signedOperation.share ?? (method === "GET" ? "signedReads" : "signedChanges"),
        ...rest,
        response: status === undefined ? response : { [status]: response },
        // On every route, a signature for another operation is 400, a session that may not do it is 403, and every request is 503
        // while the index lags; 429 is beyond the share of a client.
        errors: ["badRequest", "forbidden", "tooManyRequests", "unavailable", "payloadTooLarge", ...errors],
        ...(body === undefined ? {} : { body: documentedOnly(body) }),
      });
      const handler = async ({ request, query, body, route, set }: HandlerContext): Promise<unknown> => {
        const { fid, session, apiKeyId = null } = verified.get(request) ?? {};
        if (fid === undefined) throw new Error(`${id} was reached without a verified signature`);
        const signed = {
          fid,
          query: query as DecodedQuery<never>,
          body: spec.body === undefined ? undefined : body,
          rawBody: rawBody(request),
          prefix: route.split("/")[2] ?? "",
          apiKeyId,
          requestId: exchangeOf(request).requestId,
          address: exchangeOf(request).client().address,
          headers: request.headers,
        };
        const response = await handle(signed);
        if (status !== undefined) set.status = status;
        if (method !== "GET") {
          const { requestId, caller } = exchangeOf(request);
          const key = caller.kind === "apiKey" ? { apiKeyPrefix: caller.prefix } : {};
          const by = session === undefined ? key : { sessionId: session.sessionId };
          auth.log.info({ op, fid, requestId, ...by }, "Executed a signed operation");
        }
        return session === undefined ? response : withoutSecrets(response);
      };
      const transform = hook.transform === undefined ? [verifySignature] : [verifySignature, hook.transform];
      plugin.route(method, path, handler, { ...hook, parse: captureBody, transform });
    },
  };
}

/** Who has signed a request. */
interface Verified {
  readonly fid: number;
  readonly apiKeyId?: string;
  readonly session?: Session;
}

/** The scopes of keys that may stand for the owner's signature, by the kind of record. No key manages keys. */
const SCOPE_OF_RECORDS: Readonly<Record<string, Scope>> = { app: "apps", webhook: "webhooks" };

function accessOf(op: string): Access {
  const scope = SCOPE_OF_RECORDS[op.split(".", 1)[0] ?? ""];
  return scope === undefined ? OPEN : { kind: "signatureOrKey", scope };
}

/** Refuses a request that names another owner than the key's. */
function requireOwner(request: Request, ownerFid: number): void {
  const named = parseQueryString(request.url).owner_fid ?? [];
  if (named.every((fid) => parseFid(fid) === ownerFid)) return;
  throw new ApiError("forbidden", "owner_fid must be the owner of the key");
}

/** A schema that is documented but accepts every JSON value. */
function documentedOnly(schema: TSchema): TSchema {
  return Type.Unsafe<unknown>({ ...schema, [Kind]: "Any" });
}
