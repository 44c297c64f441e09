import { sql, sqlEach } from "../../db/state/sql.ts";
import { stateSecs } from "../../db/state/state-clock.ts";
import type { StateDb, Sweep } from "../../db/state/state-db.ts";
import type { SlotTime, WriteStore } from "./write-store.ts";

/** How long a slot remembers its newest message: longer than a message needs to reach a block. */
export const CLOCK_RETENTION_SECS = 600;

interface ClockRow {
  readonly slot: Uint8Array;
  readonly timestamp: number;
  readonly expires_at: number;
}

const find = sql<ClockRow, [fid: number, slots: string]>(
  "write-clocks.find",
  `SELECT slot, timestamp, expires_at FROM write_clocks
   WHERE fid = $1 AND slot IN (SELECT decode(t.value, 'hex') FROM elements($2) t)`,
);
/** Locks the clocks, always ordered by slot, and reads them. In SQLite a request that takes no time writes nothing. */
const lock = sql<ClockRow, [fid: number, slots: string]>(
  "write-clocks.lock",
  `INSERT INTO write_clocks (fid, slot, timestamp, expires_at)
   SELECT $1::bigint, decode(t.value, 'hex'), -1, 0 FROM elements($2) t ORDER BY t.value COLLATE "C"
   ON CONFLICT (fid, slot) DO UPDATE SET timestamp = write_clocks.timestamp RETURNING slot, timestamp, expires_at`,
  find.sqlite.sql,
);
const put = sqlEach<unknown, [slot: string, timestamp: number], [fid: number, expiresAt: number]>(
  "write-clocks.put",
  `INSERT INTO write_clocks (fid, slot, timestamp, expires_at)
   SELECT $2::bigint, decode(t.value ->> 0, 'hex'), (t.value ->> 1)::bigint, $3::bigint
   FROM rows($1) t WHERE true ORDER BY t.value ->> 0
   ON CONFLICT (fid, slot) DO UPDATE SET timestamp = excluded.timestamp, expires_at = excluded.expires_at`,
);
const deleteExpired = sql<unknown, [expiredBefore: number, max: number]>(
  "write-clocks.sweep",
  `DELETE FROM write_clocks WHERE (fid, slot) IN (
     SELECT c.fid, c.slot FROM write_clocks c WHERE c.expires_at < $1 ORDER BY c.expires_at LIMIT $2
     FOR UPDATE SKIP LOCKED)`,
);

/** Creates the store of the times of signed messages by slot. */
export function createWriteClocks(db: StateDb): Pick<WriteStore, "takeTimes" | "signedAt"> {
  return {
    takeTimes: db.decision<Parameters<WriteStore["takeTimes"]>, readonly number[] | undefined>(
      "writes.takeTimes",
      async (tx, fid, slots, nowSecs, maxAheadSecs) => {
        const nowState = stateSecs(tx.clock);
        const keys = slots.map(({ slot }) => slot.toHex());
        const held = bySlot(await tx.all(lock, fid, JSON.stringify(keys)));
        const times = slots.map(({ heldAt }: SlotTime, at) => {
          const clock = held.get(keys[at] ?? "");
          const signedAt = clock && clock.expires_at > nowState ? clock.timestamp : -1;
          return Math.max(nowSecs, heldAt + 1, signedAt + 1);
        });
        if (times.some((time) => time > nowSecs + maxAheadSecs)) return undefined;
        const taken = keys.map((key, at) => [key, times[at] ?? nowSecs] as const);
        await tx.each(put, taken, fid, nowState + CLOCK_RETENTION_SECS);
        return times;
      },
    ),
    async signedAt(fid, slots) {
      if (slots.length === 0) return [];
      const keys = slots.map((slot) => slot.toHex());
      const held = bySlot(await db.all(find, fid, JSON.stringify(keys)));
      return keys.map((key) => held.get(key)?.timestamp ?? -1);
    },
  };
}

/** Deletes clocks that are no longer needed. */
export function writeClockSweep(db: StateDb): Sweep {
  return db.sweep("write_clocks", (tx, maxRows) => tx.run(deleteExpired, tx.clock.sweepableSecs(), maxRows));
}

function bySlot(rows: readonly ClockRow[]): ReadonlyMap<string, ClockRow> {
  return new Map(rows.map((row) => [Buffer.from(row.slot).toString("hex"), row]));
}
