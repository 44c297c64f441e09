import type { PgPool } from "../../db/postgres/pool.ts";
import { pgStatement } from "../../db/postgres/statement.ts";
import { isPausable, type SwitchStore } from "../switch-store.ts";

interface Row {
  readonly name: string;
  readonly reason: string;
  readonly pausedBy: string;
  readonly pausedAt: number;
}

const listAll = pgStatement<Row>(
  "switches.list",
  `SELECT name, reason, paused_by AS "pausedBy", paused_at AS "pausedAt" FROM switches ORDER BY name`,
);
const insert = pgStatement<
  unknown,
  [names: readonly string[], reason: string, pausedBy: string, pausedAt: number]
>(
  "switches.pause",
  `INSERT INTO switches (name, reason, paused_by, paused_at)
   SELECT name, $2, $3, $4 FROM unnest($1::text[]) AS name ORDER BY name
   ON CONFLICT (name) DO UPDATE SET reason = excluded.reason, paused_by = excluded.paused_by`,
);
const remove = pgStatement<{ name: string }, [names: readonly string[]]>(
  "switches.resume",
  "DELETE FROM switches WHERE name = ANY ($1::text[]) RETURNING name",
);

/** Creates the switches of a state in PostgreSQL. */
export function createPostgresSwitches(pool: PgPool): SwitchStore {
  return {
    async list() {
      const rows = await pool.all(listAll);
      return rows.flatMap((row) => (isPausable(row.name) ? [{ ...row, name: row.name }] : []));
    },
    async pause(names, { reason, pausedBy, pausedAt }) {
      await pool.run(insert, names, reason, pausedBy, pausedAt);
    },
    async resume(names) {
      const removed = (await pool.all(remove, names)).map(({ name }) => name);
      return names.filter((name) => removed.includes(name));
    },
  };
}
