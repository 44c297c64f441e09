import type { Database, SQLQueryBindings } from "bun:sqlite";
import { IndexDatabase } from "../../db/index/database.ts";
import { networkOfIndex } from "../../db/index/identity.ts";
import { openAsIs } from "../../db/sqlite/open.ts";
import { openStateReader, type StateDatabase } from "../../db/state/database.ts";
import type { Table } from "../../db/state/table.ts";
import { presenceOf } from "../../ingest/merge/presence.ts";
import { decodeMessage } from "../../protocol/message/signed-message.ts";
import { queuedWrites, writeCalls, writeClocks } from "../../writes/store/tables.ts";

interface LateMessage {
  readonly request: string;
  readonly state: string;
  readonly message: Uint8Array | null;
  readonly isKeyed: number;
}

/**
 * Brings the writes of a copied state up to date with its index, which was copied later. A cast in the copied index keeps its idempotency
 * key, so that a client that repeats it after a restore does not cast twice. A message that waits for the network also waits in the copy.
 * A write whose messages are all merged after the copy of the index is left out, and so is its cast.
 *
 * These statements scan whole tables, so they are not declared with those that serve the node.
 *
 * @param source the path of the node's state, which may be written to concurrently.
 * @param files the paths of the copies, which no other process uses.
 */
export function copyLateWrites(
  source: string,
  files: { readonly state: string; readonly index: string },
): void {
  using from = openStateReader(source);
  using index = new IndexDatabase(openAsIs({ database: "index", file: files.index }, { readonly: true }));
  const to = openAsIs({ database: "state", file: files.state }, { readonly: false });
  try {
    from.sqlite.transaction(() => to.transaction(() => copyRows(from, to, requestsOf(from, index)))())();
  } finally {
    to.close();
  }
}

/** Returns the requests whose rows the copy gets. */
function requestsOf(from: StateDatabase, index: IndexDatabase): Set<string> {
  const network = networkOfIndex(index);
  const isIndexed = (bytes: Uint8Array | null) => {
    const message = bytes && decodeMessage(bytes);
    return message?.ok === true && presenceOf(index, network, message.value) !== "absent";
  };
  const taken = new Set<string>();
  const messages = from.sqlite.query<LateMessage, []>(
    `SELECT q.request, q.state, q.message, c.request IS NOT NULL AS "isKeyed"
     FROM queued_writes AS q LEFT JOIN write_calls AS c ON c.request = q.request`,
  );
  for (const { request, state, message, isKeyed } of messages.iterate()) {
    if (state === "queued" || (state === "refused" && isKeyed)) taken.add(request);
    else if (state === "merged" && isKeyed && !taken.has(request) && isIndexed(message)) taken.add(request);
  }
  return taken;
}

function copyRows(from: StateDatabase, to: Database, requests: ReadonlySet<string>): void {
  for (const table of [writeCalls, queuedWrites] as const) {
    copyTable(from, to, table, (row) => requests.has(String(row.request)));
  }
  copyTable(from, to, writeClocks, () => true);
}

function copyTable(
  from: StateDatabase,
  to: Database,
  { name, columns }: Pick<Table, "name" | "columns">,
  isCopied: (row: Readonly<Record<string, SQLQueryBindings>>) => boolean,
): void {
  const names = Object.entries(columns).flatMap(([column, { copiedAs }]) =>
    copiedAs === undefined ? [column] : [],
  );
  const insert = to.prepare<unknown, SQLQueryBindings[]>(
    `INSERT OR REPLACE INTO ${name} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
  );
  const rows = from.sqlite.query<Record<string, SQLQueryBindings>, []>(
    `SELECT ${names.join(", ")} FROM ${name}`,
  );
  try {
    for (const row of rows.iterate()) {
      if (isCopied(row)) insert.run(...names.map((column) => row[column] ?? null));
    }
  } finally {
    insert.finalize();
  }
}
