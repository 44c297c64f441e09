import type { SqliteConnection } from "../../sqlite/connection.ts";
import { statement } from "../statement.ts";

const dropMissingCast = statement<unknown, [id: number]>(
  "unnamed.drop-missing-cast",
  `DELETE FROM missing_casts WHERE id = ?1
     AND NOT EXISTS (SELECT 1 FROM reactions WHERE target_id = ?1)
     AND NOT EXISTS (SELECT 1 FROM casts WHERE parent_id = ?1)
     AND NOT EXISTS (SELECT 1 FROM casts WHERE root_id = ?1)
     AND NOT EXISTS (SELECT 1 FROM cast_quotes WHERE quoted_id = ?1)
     AND NOT EXISTS (SELECT 1 FROM cast_repoints WHERE old_id = ?1)
     AND NOT EXISTS (SELECT 1 FROM cast_repoints WHERE new_id = ?1)`,
);
const dropUrl = statement<unknown, [id: number]>(
  "unnamed.drop-url",
  `DELETE FROM urls WHERE id = ?1
     AND NOT EXISTS (SELECT 1 FROM reactions WHERE target_id = ?1)
     AND NOT EXISTS (SELECT 1 FROM casts WHERE parent_url_id = ?1)`,
);

/**
 * Ids of casts and URLs that one transaction removed a row of. The transaction ends by deleting the rows of `missing_casts`
 * and `urls` that nothing names any more. A thread's root URL is the parent URL of a live cast, so only that is checked.
 */
export class UnnamedIds {
  readonly #casts = new Set<number>();
  readonly #urls = new Set<number>();

  /** A row that named this cast was deleted or changed. */
  cast(id: number): void {
    this.#casts.add(id);
  }

  /** A row that named this URL was deleted. */
  url(id: number): void {
    this.#urls.add(id);
  }

  /** Discards the ids of a transaction that was rolled back. */
  clear(): void {
    this.#casts.clear();
    this.#urls.clear();
  }

  flush(db: SqliteConnection): void {
    for (const id of this.#casts) db.run(dropMissingCast, id);
    for (const id of this.#urls) db.run(dropUrl, id);
    this.clear();
  }
}
