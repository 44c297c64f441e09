import { lastInvalidationSeq, readInvalidations } from "../../../db/index/cache-invalidations.ts";
import { firstCastIdAt } from "../../../db/index/cast-id.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { CAST_COLUMNS, JOIN_CAST } from "../../../db/index/messages/columns.ts";
import { statement } from "../../../db/index/statement.ts";
import { GenerationCache } from "../../../lib/generation-cache.ts";
import { type CastRow, type MessageDb, type StoredMessage, storedCasts } from "../stored-message.ts";
import { type BothWays, bothWays, pick, type RowSource } from "./merge-sources.ts";

/** Per thread. */
const MAX_BYTES = 16 * 1024 * 1024;
/**
 * Estimated size of a message with its columns and its wire form, or its JSON: a fixed part, and a part per byte of its
 * data.
 */
const BASE_BYTES = 1200;
const COPIES = 4;

const castsById = statement<CastRow, [ids: string]>(
  "hub.casts-by-id",
  `SELECT ${CAST_COLUMNS} FROM json_each(?) j CROSS JOIN casts t ON t.id = j.value ${JOIN_CAST}`,
);

/**
 * The casts that a thread read last, with what was derived from them. A cast is five rows far apart in the index, which take
 * most of the time of a page. Each read first drops the casts that commits have changed since the previous one, within its
 * own snapshot, so it never returns a deleted cast.
 */
export class CastMessages {
  readonly #casts = new GenerationCache<number, StoredMessage>(MAX_BYTES / 2, bytesOf);
  /** Number of the last commit that the cache reflects. */
  #seq: number | undefined;

  /** Returns the casts whose ids `list` returns, in its order. */
  read(on: MessageDb, list: () => readonly { readonly id: number }[]): StoredMessage[] {
    return on.db.snapshot(() => {
      this.#sync(on.db);
      const ids = list();
      const found = ids.map(({ id }) => this.#casts.get(id));
      const missing = ids.flatMap(({ id }, at) => (found[at] === undefined ? [id] : []));
      if (missing.length > 0) {
        const loaded = new Map<number, StoredMessage>();
        for (const row of on.db.all(castsById, JSON.stringify(missing))) {
          const message = storedCasts.message(on, row);
          loaded.set(row.id, message);
          this.#casts.set(row.id, message);
        }
        for (const [at, { id }] of ids.entries()) found[at] ??= loaded.get(id);
      }
      return found.filter((message) => message !== undefined);
    });
  }

  #sync(db: IndexDatabase): void {
    if (this.#seq === undefined) {
      this.#seq = lastInvalidationSeq(db);
      return;
    }
    const changes = readInvalidations(db, this.#seq);
    if (changes === undefined) return;
    this.#seq = changes.seq;
    if (changes.everything) this.#casts.clear();
    for (const id of changes.castIds) this.#casts.delete(id);
  }
}

function bytesOf({ columns }: StoredMessage): number {
  if (columns.table !== "casts") return BASE_BYTES;
  return BASE_BYTES + COPIES * (columns.text.length + (columns.rest?.length ?? 0));
}

/** Dependencies of lists of casts. */
export interface CastDb extends MessageDb {
  /** The casts that the thread read last. */
  readonly casts: CastMessages;
}

type Source = RowSource<StoredMessage>;

/** Longer reads belong to full walks, which would displace casts that are read repeatedly. */
const MAX_CACHED_ROWS = 128;

type CastParams = [key: number, id: number, limit: number];

/** The statements of a list of casts: one returns only ids, the other complete casts. */
interface CastStatements {
  readonly ids: BothWays<{ id: number }, CastParams>;
  readonly rows: BothWays<CastRow, CastParams>;
}

const castsOfIds = (name: string, ids: (behind: string, direction: string) => string): CastStatements => ({
  ids: bothWays(`${name}-ids`, (behind, direction) => `${ids(behind, direction)} LIMIT ?3`),
  rows: bothWays(
    name,
    (behind, direction) =>
      `SELECT ${CAST_COLUMNS} FROM (${ids(behind, direction)} LIMIT ?3) b
       CROSS JOIN casts t ON t.id = b.id ${JOIN_CAST}`,
  ),
});
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

/** Returns the casts of an author. */
export const castsOf = (on: CastDb, fid: number): Source => castSource(on, castsByAuthor, fid);
/** Returns the casts below a cast, by its id. */
export const castsBelow = (on: CastDb, parentId: number): Source => castSource(on, castsByParent, parentId);
/** Returns the casts directly under a URL, by its id. */
export const castsBelowUrl = (on: CastDb, urlId: number): Source => castSource(on, castsByParentUrl, urlId);
/** Returns the casts that mention an fid. */
export const castsMentioning = (on: CastDb, fid: number): Source => castSource(on, castsByMention, fid);

function castSource(on: CastDb, { ids, rows }: CastStatements, key: number): Source {
  return {
    open(fromSecs, reverse) {
      let position = reverse ? firstCastIdAt(fromSecs + 1) : firstCastIdAt(fromSecs) - 1;
      const moveTo = (last: { readonly id: number } | undefined) => {
        position = last?.id ?? position;
      };
      return {
        read(limit) {
          if (limit <= MAX_CACHED_ROWS)
            return on.casts.read(on, () => {
              const found = on.db.all(pick(ids, reverse), key, position, limit);
              moveTo(found.at(-1));
              return found;
            });
          const found = on.db.all(pick(rows, reverse), key, position, limit);
          // A join may return the rows in an order other than that of its first table.
          found.sort(reverse ? (a, b) => b.id - a.id : (a, b) => a.id - b.id);
          moveTo(found.at(-1));
          return found.map((row) => storedCasts.message(on, row));
        },
      };
    },
  };
}
