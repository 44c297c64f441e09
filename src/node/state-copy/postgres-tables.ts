import type { PgRunner } from "../../db/postgres/driver.ts";
import type { PgSettings } from "../../db/postgres/pools.ts";
import { pgStatement } from "../../db/postgres/statement.ts";
import { liveNodes, onWholeState, raiseStateClock } from "../../db/postgres/whole-state.ts";
import type { CopiedTable } from "./copied-tables.ts";

const pausedNames = pgStatement<{ name: string }>("state-copy.paused", "SELECT name FROM switches");
const readClock = pgStatement<{ now_secs: number }>(
  "state-copy.read-clock",
  "SELECT now_secs FROM state_clock WHERE id = 1",
);
const readMove = pgStatement<{ moved_to: string | null }>(
  "state-copy.moved-to",
  "SELECT moved_to FROM cluster WHERE id = 1",
);
const setMove = pgStatement<unknown, [movedTo: string]>(
  "state-copy.set-moved-to",
  `INSERT INTO cluster (id, settings, moved_to) VALUES (1, '{}', $1)
   ON CONFLICT (id) DO UPDATE SET moved_to = excluded.moved_to`,
);

/** The state in PostgreSQL within one transaction. */
export type PgStateCopy = ReturnType<typeof stateOf>;

/** Runs `work` in one transaction on a consistent view of the state. If it throws, everything is undone. */
export function onPostgresState<T>(
  settings: PgSettings,
  work: (state: PgStateCopy) => Promise<T>,
): Promise<T> {
  return onWholeState(settings, (runner) => work(stateOf(runner)));
}

function stateOf(runner: PgRunner) {
  return {
    /** Yields the rows of a table as lines in key order. */
    lines: (table: CopiedTable): AsyncIterable<Uint8Array> =>
      runner.copyOut(`COPY (${selectOf(table)}) TO STDOUT`),
    async insert(table: CopiedTable, chunks: Iterable<Uint8Array>): Promise<void> {
      // The additional columns get their values by default during the transaction.
      const added = { ...table.added, ...(table.summed === undefined ? {} : { slot: "0" }) };
      const columns = Object.entries(added).filter(([, value]) => value !== null);
      for (const [column, value] of columns)
        await runner.runText(`ALTER TABLE ${table.name} ALTER ${column} SET DEFAULT '${value}'`);
      await runner.copyIn(`COPY ${table.name} (${columnsOf(table)}) FROM STDIN`, chunks);
      for (const [column] of columns)
        await runner.runText(`ALTER TABLE ${table.name} ALTER ${column} DROP DEFAULT`);
    },
    async isEmpty(table: CopiedTable): Promise<boolean> {
      const rows = await runner.runText(`SELECT 1 AS found FROM ${table.name} LIMIT 1`);
      return rows.length === 0;
    },
    /** Returns the last number that a table's sequence has assigned; 0 if none. */
    async sequence(table: CopiedTable): Promise<number> {
      const [row] = await runner.runText(
        `SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS seq FROM ${sequenceOf(table)}`,
      );
      return Number(row?.seq ?? 0);
    },
    async setSequence(table: CopiedTable, seq: number): Promise<void> {
      if (seq > 0) await runner.runText(`SELECT setval('${sequenceOf(table)}', ${seq})`);
    },
    liveNodes: (): Promise<readonly string[]> => liveNodes(runner),
    /** Returns what is paused. */
    paused: async (): Promise<readonly string[]> =>
      (await runner.run(pausedNames, [])).rows.map(({ name }) => name),
    nowSecs: async (): Promise<number> => (await runner.run(readClock, [])).rows[0]?.now_secs ?? 0,
    setClock: (nowSecs: number, nonceFloor: number): Promise<void> =>
      raiseStateClock(runner, { nowSecs, nonceFloor }),
    movedTo: async (): Promise<string | undefined> =>
      (await runner.run(readMove, [])).rows[0]?.moved_to ?? undefined,
    async markMoved(destination: string): Promise<void> {
      await runner.run(setMove, [destination]);
    },
  };
}

function columnsOf({ columns }: CopiedTable): string {
  return columns.map(([name]) => name).join(", ");
}

function selectOf({ name, columns, key, summed, cleared = [] }: CopiedTable): string {
  const selected = columns.map(([column]) => {
    if (column === summed) return `sum(${column})::bigint AS ${column}`;
    return cleared.includes(column) ? `NULL AS ${column}` : column;
  });
  const grouped = summed ? `GROUP BY ${key.join(", ")}` : "";
  return `SELECT ${selected.join(", ")} FROM ${name} ${grouped} ORDER BY ${key.join(", ")}`;
}

function sequenceOf({ name, sequence, isPartitioned }: CopiedTable): string {
  // A partitioned table cannot have an identity column.
  return isPartitioned ? `${name}_seq` : `${name}_${sequence}_seq`;
}
