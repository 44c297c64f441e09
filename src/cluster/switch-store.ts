import { sql } from "../db/state/sql.ts";
import type { StateDb } from "../db/state/state-db.ts";
import { key, type Row, table, text, whole } from "../db/state/table.ts";

/** What an operator has paused. `paused_at` is in unix seconds. */
export const switches = table("switches", {
  name: key(text()),
  reason: text(),
  paused_by: text(),
  paused_at: whole(),
});

/** What an operator can pause, on all nodes of a state. */
export const PAUSABLE = ["signed", "tokens", "sends", "deliveries", "writes"] as const;

/**
 * `signed`: signed operations are refused. `tokens`: token events of clients are refused. `sends`: notifications are stored and wait.
 * `deliveries`: events are queued for webhooks and wait. `writes`: writes of the API are refused, and queued ones wait.
 */
export type Pausable = (typeof PAUSABLE)[number];

/** What is paused, why, by whom and since when (unix seconds). */
export interface Pause {
  readonly name: Pausable;
  readonly reason: string;
  readonly pausedBy: string;
  readonly pausedAt: number;
}

/** The pauses of a state. They last until they are resumed, even across restarts. */
export interface SwitchStore {
  /** Returns the pauses by name. */
  list(): Promise<readonly Pause[]>;
  /** Pauses parts. If a part is already paused, it keeps its time and gets the new reason. */
  pause(names: readonly Pausable[], by: Pick<Pause, "reason" | "pausedBy" | "pausedAt">): Promise<void>;
  /** Resumes parts. Returns the names that were paused. */
  resume(names: readonly Pausable[]): Promise<readonly Pausable[]>;
}

/** Reports whether this release can pause a name, which may have been stored by another release. */
export function isPausable(name: string): name is Pausable {
  return (PAUSABLE as readonly string[]).includes(name);
}

const listAll = sql<Row<typeof switches>>(
  "switches.list",
  "SELECT name, reason, paused_by, paused_at FROM switches ORDER BY name",
);
const insert = sql<unknown, [names: string, reason: string, pausedBy: string, pausedAt: number]>(
  "switches.pause",
  `INSERT INTO switches (name, reason, paused_by, paused_at)
   SELECT t.value, $2, $3, $4 FROM elements($1) t WHERE true ORDER BY t.value
   ON CONFLICT (name) DO UPDATE SET reason = excluded.reason, paused_by = excluded.paused_by`,
);
const remove = sql<{ name: string }, [names: string]>(
  "switches.resume",
  "DELETE FROM switches WHERE name IN (SELECT t.value FROM elements($1) t) RETURNING name",
);

/**
 * The switches are the only part of `state.db` that a process other than the node writes: a command, in a transaction of a few rows, for
 * which the node's writer waits.
 */
export function createSwitches(db: StateDb): SwitchStore {
  return {
    list: async () =>
      (await db.all(listAll)).flatMap(({ name, reason, paused_by: pausedBy, paused_at: pausedAt }) =>
        isPausable(name) ? [{ name, reason, pausedBy, pausedAt }] : [],
      ),
    pause: db.decision<Parameters<SwitchStore["pause"]>, void>(
      "switches.pause",
      async (tx, names, { reason, pausedBy, pausedAt }) => {
        await tx.run(insert, JSON.stringify(names), reason, pausedBy, pausedAt);
      },
      { isOneStatement: true },
    ),
    resume: db.decision<Parameters<SwitchStore["resume"]>, readonly Pausable[]>(
      "switches.resume",
      async (tx, names) => {
        const removed = (await tx.all(remove, JSON.stringify(names))).map(({ name }) => name);
        return names.filter((name) => removed.includes(name));
      },
    ),
  };
}
