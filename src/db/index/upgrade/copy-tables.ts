import type { IndexDatabase } from "../database.ts";
import { getPosition } from "../positions.ts";
import { setShardCount, shardCount } from "../shards.ts";
import { COPIED_TABLES } from "./copied-tables.ts";
import type { FormerIndex } from "./former-index.ts";

/** The position that holds the number of shards of the followed network. */
const SHARDS_POSITION = "upstream shards";

/**
 * Copies what cannot be built from messages, in one transaction. Columns that the former file lacks get their defaults.
 *
 * @param alongside runs in the transaction.
 */
export function copyTables(former: FormerIndex, db: IndexDatabase, alongside: () => void): void {
  db.sqlite.run("ATTACH DATABASE ? AS former", [former.file]);
  try {
    db.transaction(() => {
      for (const table of ["meta", ...COPIED_TABLES]) copyTable(former, db, table);
      copySequence(db);
      const shards = getPosition(db, SHARDS_POSITION);
      if (shards !== undefined && shards !== shardCount(db)) setShardCount(db, shards);
      alongside();
    });
  } finally {
    db.sqlite.exec("DETACH DATABASE former");
  }
}

function copyTable(former: FormerIndex, db: IndexDatabase, table: string): void {
  const formerColumns = former.columnsOf(table);
  const columns = db.sqlite
    .query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)")
    .all(table)
    .flatMap(({ name }) => (formerColumns.includes(name) ? [name] : []))
    .join(", ");
  if (columns === "") return;
  db.sqlite.run(`INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM former.${table}`);
}

/** Numbers of events are never used again, also if all events before were published. */
function copySequence(db: IndexDatabase): void {
  db.sqlite.run("DELETE FROM main.sqlite_sequence WHERE name = 'event_outbox'");
  db.sqlite.run(
    "INSERT INTO main.sqlite_sequence (name, seq) SELECT name, seq FROM former.sqlite_sequence WHERE name = 'event_outbox'",
  );
}
