import { statement } from "../../../db/index/statement.ts";
import { Kind, Store } from "../../../protocol/message/merge-rules.ts";
import { toFarcasterSecs, toUnixSecs } from "../../../protocol/time.ts";
import {
  type GenericRow,
  type LinkRow,
  type MessageDb,
  type ReactionRow,
  type StoredMessage,
  storedLinks,
  storedOthers,
  storedReactions,
  storedUserData,
} from "../stored-message.ts";
import type { Turns } from "../turns.ts";
import { type BothWays, bothWays, keyedSource, pick, type RowSource } from "./merge-sources.ts";

type Source = RowSource<StoredMessage>;
const reactionsByAuthor = bothWays<
  ReactionRow,
  [fid: number, type: number, at: number, targetFid: number, targetId: number, limit: number]
>(
  "reactions-by-author",
  (behind, direction) =>
    `${storedReactions.select}
     WHERE t.fid = ?1 AND t.type = ?2 AND (t.timestamp, t.target_fid, t.target_id) ${behind} (?3, ?4, ?5)
     ORDER BY t.timestamp ${direction}, t.target_fid ${direction}, t.target_id ${direction} LIMIT ?6`,
);
const reactionsByTarget = bothWays<
  ReactionRow,
  [targetId: number, type: number, at: number, fid: number, limit: number]
>(
  "reactions-by-target",
  (behind, direction) =>
    `${storedReactions.select}
     WHERE t.target_id = ?1 AND t.type = ?2 AND (t.timestamp, t.fid) ${behind} (?3, ?4)
     ORDER BY t.timestamp ${direction}, t.fid ${direction} LIMIT ?5`,
);

type LinkParams = [fid: number, type: number | string, at: number, otherFid: number, limit: number];

const links = (name: string, fid: string, otherFid: string, displayed: string) =>
  bothWays<LinkRow, LinkParams>(
    name,
    (behind, direction) =>
      `${storedLinks.select}
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

const userDataByAuthor = storedUserData.where<[fid: number]>("hub.user-data-by-author", "t.fid = ?");
const genericByAge = bothWays<
  GenericRow,
  [fid: number, store: number, at: number, id: number, minKind: number, maxKind: number, limit: number]
>(
  "messages-by-age",
  (behind, direction) =>
    `${storedOthers.select}
     WHERE t.fid = ?1 AND t.store = ?2 AND (t.timestamp, t.id) ${behind} (?3, ?4) AND t.kind BETWEEN ?5 AND ?6
     ORDER BY t.timestamp ${direction}, t.id ${direction} LIMIT ?7`,
);
const compactIds = statement<{ id: number; timestamp: number }, [fid: number, store: number]>(
  "hub.compact-states",
  // The slots of compact states, and only those, start with this byte.
  "SELECT id, timestamp FROM messages WHERE fid = ? AND store = ? AND slot >= x'ff'",
);
const genericById = storedOthers.where<[id: number]>("hub.message-by-id", "t.id = ?");

/** Returns the reactions of one type by an author. */
export function reactionsOf(on: MessageDb, fid: number, type: number): Source {
  return keyedSource<ReactionRow, readonly [number, number, number]>({
    edge: (at, end) => [at, end, end],
    keyOf: (row) => [row.timestamp, row.targetFid, row.targetId],
    read: (key, limit, reverse) => on.db.all(pick(reactionsByAuthor, reverse), fid, type, ...key, limit),
    show: (row) => storedReactions.message(on, row),
  });
}

/** Returns the reactions of one type to a cast or a URL, by its id. */
export function reactionsTo(on: MessageDb, targetId: number, type: number): Source {
  return keyedSource<ReactionRow, readonly [number, number]>({
    edge: (at, end) => [at, end],
    keyOf: (row) => [row.timestamp, row.fid],
    read: (key, limit, reverse) => on.db.all(pick(reactionsByTarget, reverse), targetId, type, ...key, limit),
    show: (row) => storedReactions.message(on, row),
  });
}

/** Returns the links of one type by an author. */
export const linksOf = (on: MessageDb, fid: number, type: number | string): Source[] =>
  linksByAuthor.map((one) => linkSource(on, one, fid, type, ({ targetFid }) => targetFid));

/** Returns the links of one type to an fid. */
export const linksTo = (on: MessageDb, targetFid: number, type: number | string): Source[] =>
  linksByTarget.map((one) => linkSource(on, one, targetFid, type, ({ fid }) => fid));

/** Returns the links of all types by an author, who may have as many types as links. */
export async function allLinksOf(on: MessageDb, fid: number, turns: Turns): Promise<Source[]> {
  const sources: Source[] = [];
  for (let row = on.db.get(linkTypeAfter, fid, 0); row; row = on.db.get(linkTypeAfter, fid, row.type)) {
    sources.push(...linksOf(on, fid, row.type));
    const turn = turns.next();
    if (turn) await turn;
  }
  return sources;
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
    show: (row) => storedLinks.message(on, row),
  });
}

/** Returns an author's messages in the generic table: adds, removes or both. */
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
    show: (row) => storedOthers.message(on, row),
  });
}

export const ADDS = [Kind.Add, Kind.Add] as const;
export const REMOVES = [Kind.Remove, Kind.Remove] as const;
export const ADDS_AND_REMOVES = [Kind.Add, Kind.Remove] as const;

/** Returns the user data of an author, at most one message per type. */
export function userDataOf(on: MessageDb, fid: number): Source {
  return listSource(
    () => on.db.all(userDataByAuthor, fid).map((row) => ({ at: row.timestamp, row })),
    ({ row }) => storedUserData.message(on, row),
  );
}

/** Returns the compact link states of an author. They are large, so each is read only when its turn arrives. */
export function compactStatesOf(on: MessageDb, fid: number): Source {
  return listSource(
    () =>
      on.db.all(compactIds, fid, Store.Links).map(({ id, timestamp }) => ({ at: toUnixSecs(timestamp), id })),
    ({ id }) => {
      const row = on.db.get(genericById, id);
      return row && storedOthers.message(on, row);
    },
  );
}

/** Returns a source of few rows, which are listed at once. A row that is deleted before it is shown is skipped. */
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
