import { firstCastIdAt, timestampOfCastId } from "../../db/index/cast-id.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import type {
  CastColumns,
  GenericColumns,
  LinkColumns,
  ReactionColumns,
  UserDataColumns,
} from "../../db/index/messages/columns.ts";
import { statement } from "../../db/index/statement.ts";
import type { Statement } from "../../db/sqlite/statement-registry.ts";
import { Kind, Store } from "../../protocol/merge-rules.ts";
import { toFarcasterSecs, toUnixSecs } from "../../protocol/time.ts";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import type { RowCursor, RowSource } from "./merge-sources.ts";
import { type RowOf, StoredMessage } from "./stored-message.ts";

/** The index and its network. */
export interface MessageDb {
  readonly db: IndexDatabase;
  readonly network: FarcasterNetwork;
}

type Source = RowSource<StoredMessage>;
type Value = number | string | Uint8Array;

/** The forward and the backward form of a statement. */
interface BothWays<Row, Params extends readonly Value[]> {
  readonly forward: Statement<Row, Params>;
  readonly backward: Statement<Row, Params>;
}

function bothWays<Row, Params extends readonly Value[]>(
  name: string,
  sql: (behind: ">" | "<", direction: "ASC" | "DESC") => string,
): BothWays<Row, Params> {
  return {
    forward: statement<Row, Params>(`hub.${name}`, sql(">", "ASC")),
    backward: statement<Row, Params>(`hub.${name}-reversed`, sql("<", "DESC")),
  };
}

export const ENVELOPE = "s.key AS signer, e.signature, e.data";
export const JOIN_ENVELOPE = `CROSS JOIN envelopes e ON e.id = t.envelope_id
  CROSS JOIN message_signers s ON s.id = e.signer_id`;
export const CAST_COLUMNS = `t.id, t.hash, t.fid, t.text, t.parent_fid AS parentFid, t.parent_hash AS parentHash,
  u.url AS parentUrl, t.rest, ${ENVELOPE}`;
export const JOIN_CAST = `${JOIN_ENVELOPE} LEFT JOIN urls u ON u.id = t.parent_url_id`;
export const REACTION_COLUMNS = `t.fid, t.timestamp, t.type, t.target_fid AS targetFid, t.target_id AS targetId,
  coalesce(c.hash, m.hash) AS targetHash, u.url AS targetUrl, ${ENVELOPE}`;
export const JOIN_REACTION = `${JOIN_ENVELOPE} LEFT JOIN casts c ON c.id = t.target_id
  LEFT JOIN missing_casts m ON m.id = t.target_id LEFT JOIN urls u ON u.id = t.target_id`;
export const LINK_COLUMNS = `t.fid, t.timestamp, t.type, t.target_fid AS targetFid, t.displayed_at AS displayedAt,
  ${ENVELOPE}`;
export const GENERIC_COLUMNS =
  "t.id, t.fid, t.timestamp, t.store, t.slot, t.kind, s.key AS signer, t.signature, t.data";
export const JOIN_SIGNER = "CROSS JOIN message_signers s ON s.id = t.signer_id";

export type CastRow = Omit<RowOf<CastColumns>, "timestamp"> & { id: number; hash: Uint8Array };
export type ReactionRow = RowOf<ReactionColumns> & { targetId: number };
export type LinkRow = RowOf<LinkColumns>;
export type UserDataRow = RowOf<UserDataColumns>;
export type GenericRow = RowOf<GenericColumns> & { id: number };

type CastParams = [key: number, id: number, limit: number];

const castsOfIds = (name: string, ids: (behind: string, direction: string) => string) =>
  bothWays<CastRow, CastParams>(
    name,
    (behind, direction) =>
      `SELECT ${CAST_COLUMNS} FROM (${ids(behind, direction)} LIMIT ?3) b
       CROSS JOIN casts t ON t.id = b.id ${JOIN_CAST}`,
  );
const below = (column: string) => (behind: string, direction: string) =>
  `SELECT id FROM casts WHERE ${column} = ?1 AND id ${behind} ?2 ORDER BY id ${direction}`;

const castsByAuthor = castsOfIds(
  "casts-by-author",
  (behind, direction) =>
    `SELECT id FROM casts WHERE fid = ?1 AND (parent_id IS NOT NULL) = 0 AND id ${behind} ?2
     UNION ALL SELECT id FROM casts WHERE fid = ?1 AND (parent_id IS NOT NULL) = 1 AND id ${behind} ?2
     ORDER BY id ${direction}`,
);
const castsByParent = castsOfIds("casts-by-parent", below("parent_id"));
const castsByParentUrl = castsOfIds("casts-by-parent-url", below("parent_url_id"));
const castsByMention = castsOfIds(
  "casts-by-mention",
  (behind, direction) =>
    `SELECT cast_id AS id FROM cast_mentions WHERE mentioned_fid = ?1 AND cast_id ${behind} ?2
     ORDER BY cast_id ${direction}`,
);

const reactionsByAuthor = bothWays<
  ReactionRow,
  [fid: number, type: number, at: number, targetFid: number, targetId: number, limit: number]
>(
  "reactions-by-author",
  (behind, direction) =>
    `SELECT ${REACTION_COLUMNS} FROM reactions t ${JOIN_REACTION}
     WHERE t.fid = ?1 AND t.type = ?2 AND (t.timestamp, t.target_fid, t.target_id) ${behind} (?3, ?4, ?5)
     ORDER BY t.timestamp ${direction}, t.target_fid ${direction}, t.target_id ${direction} LIMIT ?6`,
);
const reactionsByTarget = bothWays<
  ReactionRow,
  [targetId: number, type: number, at: number, fid: number, limit: number]
>(
  "reactions-by-target",
  (behind, direction) =>
    `SELECT ${REACTION_COLUMNS} FROM reactions t ${JOIN_REACTION}
     WHERE t.target_id = ?1 AND t.type = ?2 AND (t.timestamp, t.fid) ${behind} (?3, ?4)
     ORDER BY t.timestamp ${direction}, t.fid ${direction} LIMIT ?5`,
);

type LinkParams = [fid: number, type: number | string, at: number, otherFid: number, limit: number];

const links = (name: string, fid: string, otherFid: string, displayed: string) =>
  bothWays<LinkRow, LinkParams>(
    name,
    (behind, direction) =>
      `SELECT ${LINK_COLUMNS} FROM links t ${JOIN_ENVELOPE}
       WHERE t.${fid} = ?1 AND t.type = ?2 AND t.displayed_at ${displayed}
         AND (t.timestamp, t.${otherFid}) ${behind} (?3, ?4)
       ORDER BY t.timestamp ${direction}, t.${otherFid} ${direction} LIMIT ?5`,
  );
// Links with a display time are in other indexes.
const linksByAuthor = [
  links("links-by-author", "fid", "target_fid", "IS NULL"),
  links("links-by-author-displayed", "fid", "target_fid", "IS NOT NULL"),
];
const linksByTarget = [
  links("links-by-target", "target_fid", "fid", "IS NULL"),
  links("links-by-target-displayed", "target_fid", "fid", "IS NOT NULL"),
];
const linkTypeAfter = statement<{ type: number | string }, [fid: number, type: number | string | null]>(
  "hub.link-type-after",
  // Numbers sort before texts, and no type is below 0.
  "SELECT type FROM links WHERE fid = ?1 AND type > ?2 ORDER BY type LIMIT 1",
);

const userDataByAuthor = statement<UserDataRow, [fid: number]>(
  "hub.user-data-by-author",
  `SELECT t.fid, t.timestamp, t.type, t.value, ${ENVELOPE} FROM user_data t ${JOIN_ENVELOPE} WHERE t.fid = ?`,
);
const genericByAge = bothWays<
  GenericRow,
  [fid: number, store: number, at: number, id: number, minKind: number, maxKind: number, limit: number]
>(
  "messages-by-age",
  (behind, direction) =>
    `SELECT ${GENERIC_COLUMNS} FROM messages t ${JOIN_SIGNER}
     WHERE t.fid = ?1 AND t.store = ?2 AND (t.timestamp, t.id) ${behind} (?3, ?4) AND t.kind BETWEEN ?5 AND ?6
     ORDER BY t.timestamp ${direction}, t.id ${direction} LIMIT ?7`,
);
const compactIds = statement<{ id: number; timestamp: number }, [fid: number, store: number]>(
  "hub.compact-states",
  // The slots of compact states start with this byte, and no others do.
  "SELECT id, timestamp FROM messages WHERE fid = ? AND store = ? AND slot >= x'ff'",
);
const genericById = statement<GenericRow, [id: number]>(
  "hub.message-by-id",
  `SELECT ${GENERIC_COLUMNS} FROM messages t ${JOIN_SIGNER} WHERE t.id = ?`,
);

export function castMessage({ network }: MessageDb, row: CastRow): StoredMessage {
  const timestamp = timestampOfCastId(row.id);
  return new StoredMessage({ ...row, table: "casts", timestamp }, timestamp, row, network, row.hash);
}

export function reactionMessage({ network }: MessageDb, row: ReactionRow): StoredMessage {
  return new StoredMessage({ ...row, table: "reactions" }, row.timestamp, row, network);
}

export function linkMessage({ network }: MessageDb, row: LinkRow): StoredMessage {
  return new StoredMessage({ ...row, table: "links" }, row.timestamp, row, network);
}

export function userDataMessage({ network }: MessageDb, row: UserDataRow): StoredMessage {
  return new StoredMessage({ ...row, table: "user_data" }, row.timestamp, row, network);
}

export function genericMessage({ network }: MessageDb, row: GenericRow): StoredMessage {
  return new StoredMessage({ ...row, table: "messages" }, toUnixSecs(row.timestamp), row, network);
}

/** The casts of an author. */
export const castsOf = (on: MessageDb, fid: number): Source => castSource(on, castsByAuthor, fid);
/** The casts below a cast, by its id. */
export const castsBelow = (on: MessageDb, parentId: number): Source =>
  castSource(on, castsByParent, parentId);
/** The casts directly under a URL, by its id. */
export const castsBelowUrl = (on: MessageDb, urlId: number): Source =>
  castSource(on, castsByParentUrl, urlId);
/** The casts that mention an fid. */
export const castsMentioning = (on: MessageDb, fid: number): Source => castSource(on, castsByMention, fid);

function castSource(
  on: MessageDb,
  { forward, backward }: BothWays<CastRow, CastParams>,
  key: number,
): Source {
  return {
    open(fromSecs, reverse) {
      let id = reverse ? firstCastIdAt(fromSecs + 1) : firstCastIdAt(fromSecs) - 1;
      return {
        read(limit) {
          const rows = on.db.all(reverse ? backward : forward, key, id, limit);
          // A join may return the rows in another order than its first table.
          rows.sort(reverse ? (a, b) => b.id - a.id : (a, b) => a.id - b.id);
          id = rows.at(-1)?.id ?? id;
          return rows.map((row) => castMessage(on, row));
        },
      };
    },
  };
}

/** The reactions of one type of an author. */
export function reactionsOf(on: MessageDb, fid: number, type: number): Source {
  return keyedSource<ReactionRow, readonly [number, number, number]>({
    edge: (at, end) => [at, end, end],
    keyOf: (row) => [row.timestamp, row.targetFid, row.targetId],
    read: (key, limit, reverse) => on.db.all(pick(reactionsByAuthor, reverse), fid, type, ...key, limit),
    show: (row) => reactionMessage(on, row),
  });
}

/** The reactions of one type to a cast or a URL, by its id. */
export function reactionsTo(on: MessageDb, targetId: number, type: number): Source {
  return keyedSource<ReactionRow, readonly [number, number]>({
    edge: (at, end) => [at, end],
    keyOf: (row) => [row.timestamp, row.fid],
    read: (key, limit, reverse) => on.db.all(pick(reactionsByTarget, reverse), targetId, type, ...key, limit),
    show: (row) => reactionMessage(on, row),
  });
}

/** The links of one type of an author. */
export const linksOf = (on: MessageDb, fid: number, type: number | string): Source[] =>
  linksByAuthor.map((one) => linkSource(on, one, fid, type, ({ targetFid }) => targetFid));

/** The links of one type to an fid. */
export const linksTo = (on: MessageDb, targetFid: number, type: number | string): Source[] =>
  linksByTarget.map((one) => linkSource(on, one, targetFid, type, ({ fid }) => fid));

/** The stored types of the links of an author. */
export function linkTypesOf({ db }: MessageDb, fid: number): (number | string)[] {
  const types: (number | string)[] = [];
  for (let row = db.get(linkTypeAfter, fid, 0); row; row = db.get(linkTypeAfter, fid, row.type))
    types.push(row.type);
  return types;
}

function linkSource(
  on: MessageDb,
  statements: BothWays<LinkRow, LinkParams>,
  fid: number,
  type: number | string,
  otherFid: (row: LinkRow) => number,
): Source {
  return keyedSource<LinkRow, readonly [number, number]>({
    edge: (at, end) => [at, end],
    keyOf: (row) => [row.timestamp, otherFid(row)],
    read: (key, limit, reverse) => on.db.all(pick(statements, reverse), fid, type, ...key, limit),
    show: (row) => linkMessage(on, row),
  });
}

/** The messages of the generic table of an author: adds, removes or both. */
export function genericOf(
  on: MessageDb,
  fid: number,
  store: Store,
  kinds: readonly [min: Kind, max: Kind],
): Source {
  return keyedSource<GenericRow, readonly [number, number]>({
    edge: (at, end) => [toFarcasterSecs(at), end],
    keyOf: (row) => [row.timestamp, row.id],
    read: (key, limit, reverse) =>
      on.db.all(pick(genericByAge, reverse), fid, store, ...key, ...kinds, limit),
    show: (row) => genericMessage(on, row),
  });
}

export const ADDS = [Kind.Add, Kind.Add] as const;
export const REMOVES = [Kind.Remove, Kind.Remove] as const;
export const ADDS_AND_REMOVES = [Kind.Add, Kind.Remove] as const;

/** The user data of an author: at most one message of each type. */
export function userDataOf(on: MessageDb, fid: number): Source {
  return listSource(
    () => on.db.all(userDataByAuthor, fid).map((row) => ({ at: row.timestamp, row })),
    ({ row }) => userDataMessage(on, row),
  );
}

/** The compact link states of an author. They are large, so each is read when its turn comes. */
export function compactStatesOf(on: MessageDb, fid: number): Source {
  return listSource(
    () =>
      on.db.all(compactIds, fid, Store.Links).map(({ id, timestamp }) => ({ at: toUnixSecs(timestamp), id })),
    ({ id }) => {
      const row = on.db.get(genericById, id);
      return row && genericMessage(on, row);
    },
  );
}

/** A source of few rows, which are listed at once. A row that is gone when it is shown is left out. */
function listSource<Row extends { readonly at: number }>(
  list: () => Row[],
  show: (row: Row) => StoredMessage | undefined,
): Source {
  return {
    open(fromSecs, reverse) {
      const rows = list()
        .filter(({ at }) => (reverse ? at <= fromSecs : at >= fromSecs))
        .sort(reverse ? (a, b) => b.at - a.at : (a, b) => a.at - b.at);
      let next = 0;
      return {
        read(limit) {
          const shown: StoredMessage[] = [];
          while (shown.length < limit && next < rows.length) {
            const row = rows[next++];
            const message = row && show(row);
            if (message) shown.push(message);
          }
          return shown;
        },
      };
    },
  };
}

function pick<Row, Params extends readonly Value[]>(
  { forward, backward }: BothWays<Row, Params>,
  reverse: boolean,
): Statement<Row, Params> {
  return reverse ? backward : forward;
}

/** A source that continues behind the key of its last row. */
function keyedSource<Row, Position extends readonly number[]>(options: {
  /** The position before all rows of a second, or behind them. */
  edge: (at: number, end: number) => Position;
  keyOf: (row: Row) => Position;
  read: (position: Position, limit: number, reverse: boolean) => Row[];
  show: (row: Row) => StoredMessage;
}): Source {
  const { edge, keyOf, read, show } = options;
  return {
    open(fromSecs, reverse): RowCursor<StoredMessage> {
      let position = edge(fromSecs, reverse ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER);
      return {
        read(limit) {
          const rows = read(position, limit, reverse);
          const last = rows.at(-1);
          if (last !== undefined) position = keyOf(last);
          return rows.map(show);
        },
      };
    },
  };
}
