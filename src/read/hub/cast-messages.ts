import { lastInvalidationSeq, readInvalidations } from "../../db/index/cache-invalidations.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { statement } from "../../db/index/statement.ts";
import { GenerationCache } from "../../lib/generation-cache.ts";
import { CAST_COLUMNS, type CastRow, castMessage, JOIN_CAST, type MessageDb } from "./message-rows.ts";
import type { StoredMessage } from "./stored-message.ts";

/** Of a thread. */
const MAX_BYTES = 16 * 1024 * 1024;
/** A message with its columns and its wire form, or its JSON: what is the same for all, and what each byte of its data adds. */
const BASE_BYTES = 1200;
const COPIES = 4;

const castsById = statement<CastRow, [ids: string]>(
  "hub.casts-by-id",
  `SELECT ${CAST_COLUMNS} FROM json_each(?) j CROSS JOIN casts t ON t.id = j.value ${JOIN_CAST}`,
);

/**
 * The casts that a thread read last, with what was made of them. A cast is five rows that lie far apart in the index, which is most of the
 * time of a page. Each read first drops the casts that commits changed since the one before, within its own snapshot, so it
 * never returns a cast that is gone.
 */
export class CastMessages {
  readonly #casts = new GenerationCache<number, StoredMessage>(MAX_BYTES / 2, bytesOf);
  /** The number of the last commit that the cache reflects. */
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
          const message = castMessage(on, row);
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
