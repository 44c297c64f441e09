import type { TSchema } from "@sinclair/typebox";
import type { ShareName } from "../admission/budgets.ts";
import type { SessionRule } from "../auth/session.ts";
import { accessOf, type SignatureRule, type SignedRequest } from "../auth/signed-routes.ts";
import type { DecodedQuery, QueryParams } from "../http/request/params.ts";
import { operation } from "../http/route/operation.ts";
import type { OperationCommand } from "./command.ts";
import type { ApiDeps } from "./deps.ts";
import {
  type Call,
  type Declaration,
  documentedOnly,
  type Method,
  type Operation,
  type OpSpec,
  operationsOf,
  queryOf,
  surfacesOf,
} from "./op.ts";

interface SignedSpec<D, Id extends string, Q extends QueryParams>
  extends Declaration<D, Id, Q>,
    Omit<SignatureRule, "method"> {
  /** Default: GET. */
  readonly method?: Method;
  /** Only documented: the handler validates the fields, because an unknown or foreign record is reported before an invalid field. */
  readonly body?: TSchema;
  readonly response: TSchema;
  /** The status of a success. Default: 200. */
  readonly status?: number;
  /** The response, with status 202, of an operation that only starts and for which `run` calls `accept`. */
  readonly accepted?: TSchema;
  /** The limit under which it is counted, by its client's address. Default: a signed read or change, depending on the method. */
  readonly share?: ShareName;
  /** The command that calls it. */
  readonly command?: OperationCommand;
  /** Reports whether a setting has disabled it; it stays in the document. */
  readonly isOff?: (deps: D) => boolean;
  /** The body may be any JSON. */
  readonly run: (
    deps: D,
    request: SignedRequest & {
      readonly query: DecodedQuery<Q>;
      readonly body: unknown;
      readonly accept: () => void;
    },
  ) => Promise<unknown>;
}

/** For bodies with at most an id and a few numbers. */
export const ID_ONLY_BYTES = 4096;
/** Allowed for any session. */
export const READ_SESSION: SessionRule = { access: "read" };

/** What clients need to know about a signed operation. */
interface SignedOperation<Id extends string> extends Operation<ApiDeps, Id> {
  readonly rule: SignatureRule;
  readonly command?: OperationCommand | undefined;
  readonly query?: QueryParams | undefined;
  readonly body?: TSchema | undefined;
}

/** Declares an operation that the owner of the records signs, in both dialects unless it declares a surface. */
function signed<const Id extends string, const Q extends QueryParams = Record<never, never>>(
  spec: SignedSpec<ApiDeps, Id, Q>,
): SignedOperation<Id> {
  const { method = "GET", op: name, maxBodyBytes, session, share, isOff, ...declared } = spec;
  const { run, body, status, accepted, command, query: parameters, ...rest } = declared;
  const rule: SignatureRule = { method, op: name, maxBodyBytes, session };
  return {
    ...surfacesOf(spec as Declaration<ApiDeps, Id, never>),
    method,
    rule,
    command,
    query: typeof parameters === "function" ? undefined : parameters,
    body,
    route(deps) {
      const hooks = deps.signing(rule, isOff?.(deps));
      const { transform, ...hook } = operation<QueryParams | undefined, TSchema | undefined>({
        ...rest,
        operationId: spec.id,
        tags: [spec.tag ?? ""],
        security: session ? "signedOperationOrSession" : "signedOperation",
        access: accessOf(name),
        share: share ?? (method === "GET" ? "signedReads" : "signedChanges"),
        query: queryOf(parameters, deps, false),
        response: {
          [status ?? 200]: spec.response,
          ...(accepted === undefined ? {} : { 202: accepted }),
        } as Record<number, TSchema>,
        // On every route: 400 for a signature of another operation, 403 for a session that may not do it, 503 while the index lags, 429
        // beyond a client's share.
        errors: [
          ...(["badRequest", "forbidden", "tooManyRequests", "unavailable", "payloadTooLarge"] as const),
          ...(spec.errors ?? []),
        ],
        ...(body === undefined ? {} : { body: documentedOnly(body) }),
      });
      const handler = ({
        request,
        query,
        body: sent,
        route,
        set,
      }: Call & { query: never; body: unknown }) => {
        if (status !== undefined) set.status = status;
        const accept = () => {
          set.status = 202;
        };
        return hooks.execute({ request, route }, (by) =>
          run(deps, { ...by, query, body: body && sent, accept }),
        );
      };
      return {
        handler,
        hook: {
          ...hook,
          parse: hooks.captureBody,
          transform: transform === undefined ? [hooks.verify] : [hooks.verify, transform],
        },
      };
    },
  };
}

/** Returns the constructors of a topic's operations, with common defaults. */
export function topic({
  price,
  ...common
}: Pick<OpSpec<ApiDeps, string, never, undefined>, "tag" | "surface" | "price"> = {}) {
  return {
    ...operationsOf<ApiDeps>({ price, ...common }),
    signed: <const Id extends string, const Q extends QueryParams = Record<never, never>>(
      spec: SignedSpec<ApiDeps, Id, Q>,
    ) => signed<Id, Q>({ ...common, ...spec }),
    /** Declares a signed request without a body that shows no secret and changes nothing, for any session. */
    signedRead: <const Id extends string, const Q extends QueryParams = Record<never, never>>(
      spec: Omit<SignedSpec<ApiDeps, Id, Q>, "method" | "session" | "maxBodyBytes">,
    ) => signed<Id, Q>({ ...common, ...spec, session: READ_SESSION, maxBodyBytes: ID_ONLY_BYTES }),
  };
}
