import type { TSchema } from "@sinclair/typebox";
import type { ErrorName } from "../../http/errors.ts";
import { type NotImplemented, type OperationHook, operation } from "../../http/operation.ts";
import type { QueryParam, QueryParams } from "../../http/params.ts";
import type { RouteCache } from "../../http/route-cache.ts";
import type { Presenters } from "../../read/present/presenters.ts";
import type { ReadSource, Reads } from "../../read/run-query.ts";

/** Names of the responses that have one schema. An empty list has one for each list. */
export type ResponseName = Exclude<keyof Presenters, "emptyList">;

/** Response shapes and parameter names of the API under one prefix. */
export interface Dialect {
  readonly present: Presenters;
  readonly schemas: Readonly<Record<ResponseName, TSchema>>;
  /** Maps the parameters of an operation to those of this dialect. */
  readonly adapt: (query: QueryParams) => QueryParams;
}

/** Parameters that a dialect may add to those of an operation. */
export interface Viewer {
  /** The fid whose relations to the shown objects are included. */
  readonly viewer_fid: number | undefined;
}

interface ReadOperation<Q extends QueryParams> {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly query: Q;
  readonly response: ResponseName;
  readonly cache: RouteCache;
  readonly errors?: readonly ErrorName[];
  /** Set if the operation can respond with 501. */
  readonly notImplemented?: NotImplemented;
}

type WithViewer<Q extends QueryParams> = Q & { readonly viewer_fid: QueryParam<number | undefined> };

/** Dependencies of the read routes of a prefix. */
export interface ReadDeps {
  readonly reads: Reads;
  /** Describes a route whose response is one of the dialect's. */
  readonly describe: <const Q extends QueryParams>(
    spec: ReadOperation<Q>,
  ) => OperationHook<WithViewer<Q>, undefined>;
}

export function readDepsFor(source: ReadSource, { present, schemas, adapt }: Dialect): ReadDeps {
  return {
    reads: { ...source, present },
    describe<const Q extends QueryParams>({ response, query, ...text }: ReadOperation<Q>) {
      // A dialect may omit the viewer, which then decodes to undefined.
      const adapted = adapt(query) as WithViewer<Q>;
      const isEmpty = Object.keys(adapted).length === 0;
      const hook = operation({
        ...text,
        ...(isEmpty ? {} : { query: adapted }),
        response: schemas[response],
      });
      return hook as OperationHook<WithViewer<Q>, undefined>;
    },
  };
}

/** Compile-time check: the names of the responses whose presenter and schema differ; `never` if all agree. */
export type Undocumented<
  P extends Record<keyof Documented, (...args: never[]) => object | undefined>,
  Documented extends object,
> = {
  [Name in keyof Documented]: [NonNullable<ReturnType<P[Name]>>] extends [Documented[Name]] ? never : Name;
}[keyof Documented];
