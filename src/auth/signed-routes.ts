import { Kind, type TSchema, Type } from "@sinclair/typebox";
import { type AnyElysia, Elysia } from "elysia";
import { rawBody, readBody } from "../http/body.ts";
import type { ErrorName } from "../http/errors.ts";
import { exchangeOf } from "../http/exchange.ts";
import { operation } from "../http/operation.ts";
import type { DecodedQuery, QueryParams } from "../http/params.ts";
import { hashBody } from "./body-hash.ts";
import { type SignedOperation, type SignedOperationId, signedOperations } from "./op-table.ts";
import { type AuthParts, createVerify } from "./verify.ts";

interface SignedRouteSpec<Q extends QueryParams> {
  readonly summary: string;
  readonly description?: string;
  readonly query?: Q;
  /**
   * The JSON body as the document shows it. Its fields are left to the handler, because an unknown or foreign record
   * is reported before a wrong field.
   */
  readonly body?: TSchema;
  readonly response: TSchema;
  readonly errors?: readonly ErrorName[];
}

/** A request that its fid's custody address signed, and nobody sent before. */
export interface SignedRequest<Q extends QueryParams> {
  readonly fid: number;
  readonly query: DecodedQuery<Q>;
  /** Any JSON; undefined for a route without a body in its description. */
  readonly body: unknown;
  readonly rawBody: Uint8Array;
  /** The path segment that the API was asked under, as `farcaster`. */
  readonly prefix: string;
}

/** A group of routes that answer signed requests only. */
export interface SignedRoutes {
  readonly plugin: AnyElysia;
  /** Adds the route that the operation table has under this id. */
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
  /** Template of the whole path, as `/v2/farcaster/webhook`. */
  readonly route: string;
}

/**
 * Signed operations as a piece of the lifecycle. The parse hook keeps the bytes of the body. The first transform judges
 * the signature over them (what a parse hook throws would come out as a parse error) and spends the nonce. The next decodes
 * query and JSON.
 */
export function createSignedRoutes(
  auth: AuthParts,
  group: { readonly name: string; readonly tag: string },
): SignedRoutes {
  const verify = createVerify(auth);
  const verified = new WeakMap<Request, number>();
  const plugin = new Elysia({ name: group.name });

  return {
    plugin,
    add(id, spec, handle) {
      const {
        method,
        path,
        op,
        maxBodyBytes = Number.POSITIVE_INFINITY,
      }: SignedOperation = signedOperations[id];
      const captureBody = ({ request }: { readonly request: Request }) =>
        readBody(request, Math.min(maxBodyBytes, exchangeOf(request).policy.maxBodyBytes));
      const judge = async ({ request }: { readonly request: Request }): Promise<void> => {
        verified.set(
          request,
          await verify({ headers: request.headers, bodyHash: () => hashBody(rawBody(request)), op }),
        );
      };
      const { body, errors = [], ...rest } = spec;
      const hook = operation<QueryParams | undefined, TSchema | undefined>({
        operationId: id,
        tags: [group.tag],
        security: "signedOperation",
        ...rest,
        // On every route, a signature for another operation is 400, and all of them are 503 while the index lags.
        errors: ["badRequest", "unavailable", "payloadTooLarge", ...errors],
        ...(body === undefined ? {} : { body: documentedOnly(body) }),
      });
      const handler = async ({ request, query, body, route }: HandlerContext): Promise<unknown> => {
        const fid = verified.get(request);
        if (fid === undefined) throw new Error(`${id} was reached without a verified signature`);
        const signed = {
          fid,
          query: query as DecodedQuery<never>,
          body: spec.body === undefined ? undefined : body,
          rawBody: rawBody(request),
          prefix: route.split("/")[2] ?? "",
        };
        const answer = await handle(signed);
        if (method !== "GET") {
          const { requestId } = exchangeOf(request);
          auth.log.info({ op, fid, requestId }, "Carried out a signed operation");
        }
        return answer;
      };
      const transform = hook.transform === undefined ? [judge] : [judge, hook.transform];
      plugin.route(method, path, handler, { ...hook, parse: captureBody, transform });
    },
  };
}

/** A schema that the document shows and that lets every JSON value pass. */
function documentedOnly(schema: TSchema): TSchema {
  return Type.Unsafe<unknown>({ ...schema, [Kind]: "Any" });
}
