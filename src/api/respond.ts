import type { Static, TObject } from "@sinclair/typebox";
import type { IndexDatabase } from "../db/index/database.ts";
import type { CamelCase } from "../db/state/table.ts";
import { camelCase } from "../db/state/table.ts";
import { ApiError } from "../http/errors.ts";
import type { Result } from "../lib/result.ts";
import type { Refusal } from "../management/refusal.ts";
import type { CursorCodec, Key, KeyShape, Page } from "../read/cursor.ts";
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
 * Decodes the `cursor` of a list that may be one of two. A walk stays in the list in which it began.
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

/** Parameters of a page, as they are decoded. */
export interface PageQuery extends Partial<Viewer> {
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** Finds a page of at most `limit` rows after a position. */
type FindPage<Shape extends KeyShape, Row> = (
  db: IndexDatabase,
  page: { readonly limit: number; readonly after: Key<Shape> | undefined },
) => Page<Row>;

/** Decodes the cursor before the snapshot is opened, and returns the search of the page. */
function pageOf<Shape extends KeyShape, Row>(
  { limit, cursor }: PageQuery,
  codec: CursorCodec<Shape>,
  find: FindPage<Shape, Row>,
): (db: IndexDatabase) => Page<Row> {
  const after = decodeCursor(codec, cursor);
  return (db) => find(db, { limit, after });
}

/** Finds a page of a list as its viewer is shown it. */
function ruledPageOf<Shape extends KeyShape, Row>(
  reads: Reads,
  query: PageQuery,
  cursor: CursorCodec<Shape>,
  find: FindPage<Shape, Row>,
  {
    select,
    subjectFid,
  }: { select: (rules: ListRules) => SelectVisible<Row>; subjectFid: number | undefined },
): (db: IndexDatabase) => Page<Row> {
  const after = decodeCursor(cursor, query.cursor);
  const { limit, viewer_fid: viewerFid } = query;
  return (db) => {
    const rules = openListRules(reads, { viewerFid, subjectFid });
    return ruledPage(rules, { limit, after, cursor }, (page) => find(db, page), select);
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

/** Responds with a list of casts that has one page; `find` returns live casts. */
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
 * Responds with one page of a list of casts, without those that the viewer's relations hide; `find` returns live casts.
 * @param subjectFid the user whose list it is
 */
export function respondWithCastPage<Shape extends KeyShape>(
  reads: Reads,
  query: PageQuery,
  cursor: CursorCodec<Shape>,
  find: FindPage<Shape, ListedCast>,
  subjectFid?: number,
): object {
  const select = (rules: ListRules) => rules.casts<ListedCast>;
  return respondWithCastList(reads, query, ruledPageOf(reads, query, cursor, find, { select, subjectFid }));
}

interface Row {
  readonly fid: number;
}

/** How a list of users is shown. */
interface UserListing<R> {
  /** For lists with a shape of their own. */
  readonly present?: (page: Page<R>, hydration: Hydration) => object;
  /** The user whose list it is. */
  readonly subjectFid?: number | undefined;
  /** Default: those that the viewer's relations do not hide. `all` for lists of the relations themselves. */
  readonly select?: "all" | ((rules: ListRules) => SelectVisible<R>);
}

/** Responds with one page of a list of users; `find` returns existing fids. */
export function respondWithUserPage<Shape extends KeyShape, R extends Row>(
  reads: Reads,
  query: PageQuery,
  cursor: CursorCodec<Shape>,
  find: FindPage<Shape, R>,
  {
    present = reads.present.userPage,
    subjectFid,
    select = (rules) => rules.accounts<R>,
  }: UserListing<R> = {},
): object {
  const { viewer_fid: viewerFid } = query;
  return runQuery(
    reads,
    select === "all"
      ? pageOf(query, cursor, find)
      : ruledPageOf(reads, query, cursor, find, { select, subjectFid }),
    ({ rows }) => ({ fids: rows.map(({ fid }) => fid), viewerFid }),
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

/** Responds with a list of channels that has one page; `find` may return ids of unknown channels. */
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

/** Responds with one page of a list of channels; `find` may return ids of unknown channels. */
export function respondWithChannelPage<Shape extends KeyShape>(
  reads: Reads,
  query: PageQuery,
  cursor: CursorCodec<Shape>,
  find: FindPage<Shape, { readonly id: string }>,
): object {
  return respondWithChannelList(reads, query, pageOf(query, cursor, find));
}

/** @throws ApiError of the refusal's kind */
export function unwrapOrThrow<T>(result: Result<T, Refusal | SignerRefusal>): T {
  if (result.ok) return result.value;
  const { kind, message, ...options } = result.error;
  throw new ApiError(kind, message, options);
}

/** The members of a record that the fields of an object are read from. */
type MembersOf<Fields> = { readonly [Name in keyof Fields as CamelCase<Name> & string]: Fields[Name] };

/** Presents a record in the order of its schema: each field is the member with its name in camel case, unless `others` has it. */
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
