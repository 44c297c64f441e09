import { rmSync } from "node:fs";
import { decodeMessage } from "../../protocol/signed-message.ts";
import { OnChainEvent } from "../../protocol/wire/generated/on-chain.ts";
import { type IndexDatabase, openIndexWriter } from "./database.ts";
import { foldOnChainEvents } from "./project/on-chain.ts";
import { project } from "./project/project.ts";
import { TotalsDelta, totalOf } from "./totals.ts";

/** A derived table that differs from what the messages and events yield. */
export interface Difference {
  readonly table: string;
  /** Expected rows that the table lacks. */
  readonly missing: number;
  /** Rows that the table should not have. */
  readonly extra: number;
}

/** The tables that can be rebuilt from messages and events. */
const DERIVED_TABLES = [
  "fids",
  "signers",
  "pro_tiers",
  "storage_lends",
  "store_counts",
  "casts",
  "cast_counts",
  "cast_quotes",
  "cast_embed_urls",
  "cast_mentions",
  "reactions",
  "links",
  "follow_counts",
  "mutual_follows",
  "notifications",
  "thread_notifications",
  "channel_activity",
  "channel_members",
  "user_data",
  "display_name_words",
  "verifications",
  "username_proofs",
  "totals",
];

const ROWS_PER_STEP = 5000;

/**
 * Rebuilds every derived table from the live messages, on-chain events and fname proofs, in a scratch database next to the
 * index, and compares. No other connection may write to the index concurrently. These queries scan whole tables, so they
 * are not declared with the statements that serve the node.
 */
export function verifyIndex(path: string): Difference[] {
  const scratchPath = `${path}.verify`;
  removeDatabase(scratchPath);
  const scratch = openIndexWriter(scratchPath);
  try {
    scratch.sqlite.exec("PRAGMA synchronous = OFF");
    scratch.sqlite.prepare("ATTACH DATABASE ? AS live").run(path);
    rebuild(scratch);
    const differences = DERIVED_TABLES.map((table) => compare(scratch, table));
    return [...differences, compareSearch(scratch)].filter((d) => d.missing + d.extra > 0);
  } finally {
    scratch[Symbol.dispose]();
    removeDatabase(scratchPath);
  }
}

function rebuild(scratch: IndexDatabase): void {
  const totals = new TotalsDelta();
  rebuildRegistry(scratch, totals);
  rebuildMessages(scratch, totals);
  const fids = scratch.sqlite.query<{ n: number }, []>("SELECT count(*) AS n FROM main.fids").get()?.n ?? 0;
  totals.add("fids", fids);
  scratch.transaction(() => totals.flush(scratch));
}

function rebuildRegistry(scratch: IndexDatabase, totals: TotalsDelta): void {
  scratch.transaction(() => {
    scratch.sqlite.exec("INSERT INTO main.on_chain_events SELECT * FROM live.on_chain_events");
    scratch.sqlite.exec(
      "INSERT INTO main.username_proofs SELECT * FROM live.username_proofs WHERE message_hash IS NULL",
    );
    const events = scratch.sqlite.query<{ bytes: Uint8Array }, []>("SELECT bytes FROM live.on_chain_events");
    for (const { bytes } of events.iterate()) {
      foldOnChainEvents(scratch, OnChainEvent.decode(bytes));
      totals.add("on_chain_events", 1);
    }
  });
}

function rebuildMessages(scratch: IndexDatabase, totals: TotalsDelta): void {
  const page = scratch.sqlite.query<{ id: number; fid: number; store: number; bytes: Uint8Array }, [number]>(
    `SELECT id, fid, store, bytes FROM live.messages WHERE id > ? ORDER BY id LIMIT ${ROWS_PER_STEP}`,
  );
  const countUsed = scratch.sqlite.query<unknown, [number, number]>(
    `INSERT INTO main.store_counts (fid, store, used) VALUES (?1, ?2, 1)
     ON CONFLICT (fid, store) DO UPDATE SET used = used + 1`,
  );
  let after = 0;
  for (let rows = page.all(after); rows.length > 0; rows = page.all(after)) {
    scratch.transaction(() => {
      for (const row of rows) {
        const message = decodeMessage(row.bytes);
        if (!message.ok) throw new Error(`message ${row.id} is unreadable: ${message.error.reason}`);
        project(scratch, message.value);
        countUsed.run(row.fid, row.store);
        totals.add("messages", 1);
        const total = totalOf(message.value);
        if (total) totals.add(total, 1);
      }
    });
    after = rows.at(-1)?.id ?? after;
  }
}

function compare(scratch: IndexDatabase, table: string): Difference {
  const columns = scratch.sqlite
    .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`)
    .all()
    // Row ids depend on the order of arrival, which differs between nodes.
    .flatMap(({ name }) => (name === "id" ? [] : [name]))
    .join(", ");
  // A total of zero may or may not have a row.
  const where = table === "totals" ? "WHERE count != 0" : "";
  const rowsOf = (schema: string) => `SELECT ${columns} FROM ${schema}.${table} ${where}`;
  const count = (a: string, b: string) =>
    scratch.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM (${a} EXCEPT ${b})`).get()?.n ?? 0;
  const fresh = rowsOf("main");
  const live = rowsOf("live");
  return { table, missing: count(fresh, live), extra: count(live, fresh) };
}

/** The full-text index stores no text to compare: it must have exactly the live casts. */
function compareSearch(scratch: IndexDatabase): Difference {
  const count = (a: string, b: string) =>
    scratch.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM (${a} EXCEPT ${b})`).get()?.n ?? 0;
  const live = "SELECT id FROM live.casts";
  const found = "SELECT rowid FROM live.casts_fts";
  return { table: "casts_fts", missing: count(live, found), extra: count(found, live) };
}

function removeDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
}
