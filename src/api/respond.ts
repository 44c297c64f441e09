import type { Static, TObject } from "@sinclair/typebox";
import type { IndexDatabase } from "../db/index/database.ts";
import type { CamelCase } from "../db/state/table.ts";
import { camelCase } from "../db/state/table.ts";
import { ApiError } from "../http/errors.ts";
import type { Result } from "../lib/result.ts";
import type { Refusal } from "../management/refusal.ts";
import type { CursorCodec, Key, KeyShape, Page, PagedList, PagePosition } from "../read/cursor.ts";
import type { CastRef, Hash } from "../read/hydrate/casts.ts";
import { type Hydration, hashesOf } from "../read/hydrate/hydrate.ts";
import { type ListedCast, type ListRules, openListRules, ruledPage } from "../read/rules/list-rules.ts";
import type { SelectVisible } from "../read/rules/visible-page.ts";
import { type Reads, runQuery } from "../read/run-query.ts";
import type { SignerRefusal } from "../signers/refusal.ts";
import type { Viewer } from "./deps.ts";

/**
 * Decodes a `cursor` parameter to its position; undefined if the parameter is absent.
 * @throws ApiError `badRequest` for a cursor that this endpoint did not issue
 */
export function decodeCursor<Shape extends KeyShape>(
  codec: CursorCodec<Shape>,
  cursor: string | undefined,
): Key<Shape> | undefined {
  if (cursor === undefined) return undefined;
  const key = codec.decode(cursor);
  if (!key) throw new ApiError("badRequest", "cursor is not one of this endpoint");
  return key;
}

/**
 * Decodes the `cursor` of a list that may be one of two. A pagination stays in the list in which it began.
 *
 * @throws ApiError `badRequest` for a cursor of neither
 */
export function decodeCursorOfEither<A extends KeyShape, B extends KeyShape>(
  [a, b]: readonly [CursorCodec<A>, CursorCodec<B>],
  cursor: string | undefined,
): { readonly isFirst: boolean; readonly a: Key<A> | undefined; readonly b: Key<B> | undefined } {
  const ofA = cursor === undefined ? undefined : a.decode(cursor);
  const ofB = ofA ? undefined : decodeCursor(b, cursor);
  return { isFirst: cursor === undefined, a: ofA, b: ofB };
}

/** The decoded parameters of a page. */
export interface PageQuery extends Partial<Viewer> {
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** The subject of a list; a function if it depends on the snapshot. */
type Subject<Query> = Query | ((db: IndexDatabase) => Query);

/** Decodes the cursor before the snapshot is opened. Returns a function that finds the page as its viewer should see it. */
function pageOf<Shape extends KeyShape, Row, Query extends object>(
  reads: Reads,
  query: PageQuery,
  list: PagedList<Shape, Row, Query>,
  subject: Subject<Query>,
  {
    select,
    subjectFid,
  }: {
    readonly select?: ((rules: ListRules) => SelectVisible<Row>) | undefined;
    readonly subjectFid?: number | undefined;
  } = {},
): (db: IndexDatabase) => Page<Row> {
  const { limit, viewer_fid: viewerFid } = query;
  const { cursor } = list;
  const after = decodeCursor(cursor, query.cursor);
  const read = (db: IndexDatabase) => (page: PagePosition<Shape>) =>
    list(db, { ...(typeof subject === "function" ? subject(db) : subject), ...page });
  if (!select) return (db) => read(db)({ limit, after });
  return (db) => {
    const rules = openListRules(reads, { viewerFid, subjectFid });
    return ruledPage(rules, { limit, after, cursor }, read(db), select);
  };
}

/** Responds with the casts of a list of hashes, in its order; unknown casts are omitted. */
export function respondWithCasts(
  reads: Reads,
  { viewer_fid: viewerFid }: Partial<Viewer>,
  hashes: readonly Hash[],
): object {
  return runQuery(
    reads,
    () => hashes,
    () => ({ hashes, viewerFid }),
    reads.present.casts,
  );
}

/** Responds with a list of casts that has only one page; `find` returns live casts. */
export function respondWithCastList(
  reads: Reads,
  { viewer_fid: viewerFid }: Partial<Viewer>,
  find: (db: IndexDatabase) => Page<CastRef>,
): object {
  return runQuery(
    reads,
    find,
    ({ rows }) => ({ castIds: rows.map(({ id }) => id), viewerFid }),
    ({ rows, cursor }, hydration) =>
      reads.present.castPage(
        { rows: hashesOf(rows, hydration).map((hash) => ({ hash })), cursor },
        hydration,
      ),
  );
}

/**
 * Responds with one page of a list of live casts, without those that the viewer's relations hide.
 * @param subjectFid the user whose list it is
 */
export function respondWithCastPage<Shape extends KeyShape, Query extends object>(
  reads: Reads,
  query: PageQuery,
  list: PagedList<Shape, ListedCast, Query>,
  subject: Subject<Query>,
  subjectFid?: number,
): object {
  const select = (rules: ListRules) => rules.casts<ListedCast>;
  return respondWithCastList(reads, query, pageOf(reads, query, list, subject, { select, subjectFid }));
}

interface Row {
  readonly fid: number;
}

/** How a list of users is presented. */
interface UserListing<R> {
  /** For lists with a special shape. */
  readonly present?: (page: Page<R>, hydration: Hydration) => object;
  /** The user whose list it is. */
  readonly subjectFid?: number | undefined;
  /** Default: those that the viewer's relations do not hide. `all` for lists of the relations themselves. */
  readonly select?: "all" | ((rules: ListRules) => SelectVisible<R>);
}

/** Responds with one page of a list of existing users. */
export function respondWithUserPage<Shape extends KeyShape, R extends Row, Query extends object>(
  reads: Reads,
  query: PageQuery,
  list: PagedList<Shape, R, Query>,
  subject: Subject<Query>,
  {
    present = reads.present.userPage,
    subjectFid,
    select = (rules) => rules.accounts<R>,
  }: UserListing<R> = {},
): object {
  return runQuery(
    reads,
    pageOf(reads, query, list, subject, { select: select === "all" ? undefined : select, subjectFid }),
    ({ rows }) => ({ fids: rows.map(({ fid }) => fid), viewerFid: query.viewer_fid }),
    present,
  );
}

/**
 * Responds with the user whose fid `find` returns.
 * @throws ApiError `notFound` with the message, if `find` returns no fid or an unknown one
 */
export function respondWithUser(
  reads: Reads,
  { viewer_fid: viewerFid }: Partial<Viewer>,
  find: (db: IndexDatabase) => number | undefined,
  message: string,
  present = reads.present.user,
): object {
  return runQuery(
    reads,
    find,
    (fid) => ({ fids: fid === undefined ? [] : [fid], viewerFid }),
    (fid, hydration) => {
      const body = fid === undefined ? undefined : present(fid, hydration);
      if (!body) throw new ApiError("notFound", message);
      return body;
    },
  );
}

/** Responds with a list of channels that has only one page; `find` may return ids of unknown channels. */
export function respondWithChannelList(
  reads: Reads,
  { viewer_fid: viewerFid }: Partial<Viewer>,
  find: (db: IndexDatabase) => Page<{ readonly id: string }>,
): object {
  return runQuery(
    reads,
    find,
    ({ rows }) => ({ channelIds: rows.map(({ id }) => id), viewerFid }),
    reads.present.channelPage,
  );
}

/** Responds with one page of a list of channels; it may contain ids of unknown channels. */
export function respondWithChannelPage<Shape extends KeyShape, Query extends object>(
  reads: Reads,
  query: PageQuery,
  list: PagedList<Shape, { readonly id: string }, Query>,
  subject: Subject<Query>,
): object {
  return respondWithChannelList(reads, query, pageOf(reads, query, list, subject));
}

/** @throws ApiError of the refusal's kind */
export function unwrapOrThrow<T>(result: Result<T, Refusal | SignerRefusal>): T {
  if (result.ok) return result.value;
  const { kind, message, ...options } = result.error;
  throw new ApiError(kind, message, options);
}

/** The members of a record from which the fields of an object are read. */
type MembersOf<Fields> = { readonly [Name in keyof Fields as CamelCase<Name> & string]: Fields[Name] };

/** Presents a record in the order of its schema: each field is the member with its name in camel case, unless `others` contains it. */
export function presentRecord<S extends TObject, const Others extends Partial<Static<S>>>(
  schema: S,
  record: MembersOf<Omit<Static<S>, keyof Others>>,
  others: Others,
): Static<S> {
  const members: Readonly<Record<string, unknown>> = record;
  const own: Readonly<Record<string, unknown>> = others;
  const fields = Object.keys(schema.properties).map((name) => [
    name,
    name in own ? own[name] : members[camelCase(name)],
  ]);
  return Object.fromEntries(fields) as Static<S>;
}
