import type { TSchema } from "@sinclair/typebox";
import type { ErrorName } from "../../http/errors.ts";
import { type OperationHook, operation } from "../../http/operation.ts";
import type { QueryParam, QueryParams } from "../../http/params.ts";
import type { RouteCache } from "../../http/route-cache.ts";
import type { Presenters } from "../../read/present/presenters.ts";
import type { ReadSource, Reads } from "../../read/run-query.ts";

/** The answers that have one schema; an empty list has one for each list. */
export type ResponseName = Exclude<keyof Presenters, "emptyList">;

/** How a prefix speaks: what its answers look like, and what its parameters are called. */
export interface Dialect {
  readonly present: Presenters;
  readonly schemas: Readonly<Record<ResponseName, TSchema>>;
  /** The parameters of an operation as clients of this dialect send them. */
  readonly adapt: (query: QueryParams) => QueryParams;
}

/** What a dialect may take beside the parameters of an operation. */
export interface Viewer {
  /** For whom the objects are shown. */
  readonly viewer_fid: number | undefined;
}

interface ReadOperation<Q extends QueryParams> {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly query: Q;
  readonly answer: ResponseName;
  readonly cache: RouteCache;
  readonly errors?: readonly ErrorName[];
}

type WithViewer<Q extends QueryParams> = Q & { readonly viewer_fid: QueryParam<number | undefined> };

/** What the read routes of a prefix are made with. */
export interface ReadParts {
  readonly reads: Reads;
  /** Describes a route whose answer is one of the dialect's. */
  readonly describe: <const Q extends QueryParams>(
    spec: ReadOperation<Q>,
  ) => OperationHook<WithViewer<Q>, undefined>;
}

export function readPartsOf(source: ReadSource, { present, schemas, adapt }: Dialect): ReadParts {
  return {
    reads: { ...source, present },
    describe<const Q extends QueryParams>({ answer, query, ...text }: ReadOperation<Q>) {
      // A dialect may leave the viewer out, which decodes to undefined all the same.
      const adapted = adapt(query) as WithViewer<Q>;
      const isEmpty = Object.keys(adapted).length === 0;
      const hook = operation({ ...text, ...(isEmpty ? {} : { query: adapted }), response: schemas[answer] });
      return hook as OperationHook<WithViewer<Q>, undefined>;
    },
  };
}

/** The names of the answers whose presenter and documented shape part ways; never, where all agree. */
export type Undocumented<
  P extends Record<keyof Documented, (...args: never[]) => object | undefined>,
  Documented extends object,
> = {
  [Name in keyof Documented]: [NonNullable<ReturnType<P[Name]>>] extends [Documented[Name]] ? never : Name;
}[keyof Documented];
