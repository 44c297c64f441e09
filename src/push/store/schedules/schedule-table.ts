import { type SqlValue, sql, sqliteSpelling } from "../../../db/state/sql.ts";
import { stateSecs } from "../../../db/state/state-clock.ts";
import type { StateDb, Sweep, Tx } from "../../../db/state/state-db.ts";
import { type Row, recordCodec } from "../../../db/state/table.ts";
import {
  CAMPAIGN_RETENTION_SECS,
  type NewPart,
  type RunLimits,
  runLimitsOf,
} from "../campaigns/campaign-store.ts";
import { addCampaign, lockApp } from "../campaigns/campaign-table.ts";
import {
  type DueWave,
  type FireOutcome,
  type HeldReason,
  type NewSchedule,
  type Schedule,
  type ScheduleStore,
  schedules,
  scheduleWaves,
  type Wave,
} from "./schedule-store.ts";

type ScheduleRow = Row<typeof schedules>;
type WaveRow = Row<typeof scheduleWaves>;

const codec = recordCodec(schedules);
/** The fields of the content that only a campaign reads. */
const NAMED = ["targetFids", "excludeFids", "segment"];
const unnamed = {
  postgres: `(s.content::jsonb${NAMED.map((name) => ` #- '{audience,${name}}'`).join("")})::text`,
  sqlite: `json_remove(s.content${NAMED.map((name) => `, '$.audience.${name}'`).join("")})`,
};

/** Declares a statement that reads schedules without the fids and the segment in their content. */
function reading<R, Params extends readonly SqlValue[]>(name: string, text: (columns: string) => string) {
  const columnsWith = (content: string) =>
    `s.seq, ${codec.columns.replace(/\w+/g, (column) => (column === "content" ? `${content} AS content` : `s.${column}`))}`;
  return sql<R, Params>(
    name,
    text(columnsWith(unnamed.postgres)),
    sqliteSpelling(text(columnsWith(unnamed.sqlite))),
  );
}

const waveColumns = recordCodec(scheduleWaves).columns;

const countOpen = sql<{ count: number }, [appId: string]>(
  "schedules.count-open",
  "SELECT count(*) AS count FROM schedules WHERE app_id = $1 AND ended_at IS NULL",
);
const insert = sql<{ seq: number }, ReturnType<typeof codec.values>>(
  "schedules.insert",
  `${codec.insert} RETURNING seq`,
);
const insertWaves = sql<unknown, [schedule: number, waves: string]>(
  "schedule-waves.insert",
  `INSERT INTO schedule_waves (schedule, wave, due_at_ms, variant, state)
   SELECT $1, (w.value::jsonb ->> 0)::bigint, (w.value::jsonb ->> 1)::bigint, (w.value::jsonb ->> 2)::bigint, 'due'
   FROM elements($2) w`,
);
const byId = reading<ScheduleRow, [scheduleId: string]>(
  "schedules.find",
  (columns) => `SELECT ${columns} FROM schedules s WHERE schedule_id = $1`,
);
const pageOfApp = reading<ScheduleRow, [appId: string, before: number, max: number]>(
  "schedules.page",
  (columns) => `SELECT ${columns} FROM schedules s WHERE app_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3`,
);
const wavesOf = sql<WaveRow, [schedules: readonly number[]]>(
  "schedule-waves.of",
  `SELECT ${waveColumns} FROM schedule_waves WHERE schedule = ANY ($1::bigint[]) ORDER BY schedule, wave`,
);
const dueNow = reading<
  ScheduleRow & Pick<WaveRow, "wave" | "due_at_ms" | "variant">,
  [nowMs: number, max: number, exceptApps: readonly string[]]
>(
  "schedule-waves.due",
  (columns) => `SELECT ${columns}, w.wave, w.due_at_ms, w.variant
   FROM (SELECT d.* FROM schedule_waves d JOIN schedules o ON o.seq = d.schedule
     WHERE d.state = 'due' AND d.due_at_ms <= $1 AND NOT o.app_id = ANY ($3::text[]) ORDER BY d.due_at_ms LIMIT $2) w
   JOIN schedules s ON s.seq = w.schedule ORDER BY w.due_at_ms, s.seq, w.wave`,
);
const lockDue = sql<{ due_at_ms: number }, [schedule: number, wave: number]>(
  "schedule-waves.lock",
  `SELECT due_at_ms FROM schedule_waves WHERE schedule = $1 AND wave = $2 AND state = 'due'
   FOR UPDATE SKIP LOCKED`,
);
const markSent = sql<unknown, [schedule: number, wave: number, bootId: string, campaignId: string]>(
  "schedule-waves.sent",
  `UPDATE schedule_waves SET state = 'sent', claimed_by = $3::uuid, campaign_id = $4
   WHERE schedule = $1 AND wave = $2`,
);
const markNotSent = sql<unknown, [schedule: number, wave: number, state: string, reason: HeldReason | null]>(
  "schedule-waves.not-sent",
  "UPDATE schedule_waves SET state = $3, reason = $4 WHERE schedule = $1 AND wave = $2 AND state = 'due'",
);
const cancelDue = sql<unknown, [schedule: number]>(
  "schedule-waves.cancel",
  "UPDATE schedule_waves SET state = 'cancelled' WHERE schedule = $1 AND state = 'due'",
);
const endSchedule = sql<unknown, [schedule: number, nowSecs: number]>(
  "schedules.end",
  `UPDATE schedules SET ended_at = $2 WHERE seq = $1 AND NOT EXISTS
     (SELECT 1 FROM schedule_waves WHERE schedule = $1 AND state = 'due')`,
);
const ended = sql<{ seq: number }, [until: number]>(
  "schedules.ended",
  `SELECT seq FROM schedules s WHERE ended_at <= $1
     AND NOT EXISTS (SELECT 1 FROM campaigns c WHERE c.schedule = s.seq AND c.ended_at IS NULL)
   ORDER BY ended_at LIMIT 1 FOR UPDATE OF s SKIP LOCKED`,
);
const deleteWaves = sql<unknown, [schedule: number]>(
  "schedule-waves.delete",
  "DELETE FROM schedule_waves WHERE schedule = $1",
);
const deleteSchedule = sql<unknown, [schedule: number]>(
  "schedules.delete",
  "DELETE FROM schedules WHERE seq = $1",
);

const secsOf = (ms: number) => Math.floor(ms / 1000);

const toWave = (row: WaveRow): Wave => ({
  wave: row.wave,
  dueAt: secsOf(row.due_at_ms),
  variant: row.variant,
  state: row.state,
  reason: row.reason,
  campaignId: row.campaign_id,
});

async function endIfDecided(tx: Tx, schedule: number): Promise<void> {
  await tx.run(endSchedule, schedule, stateSecs(tx.clock));
}

/** @param runLimits the run limits of this process: it runs the waves that it sends while it has room */
export function createSchedules(
  db: StateDb,
  runLimits: RunLimits = runLimitsOf({ send_concurrency: 1 }),
): ScheduleStore {
  async function withWaves(rows: readonly ScheduleRow[]): Promise<Schedule[]> {
    if (rows.length === 0) return [];
    const waves = Map.groupBy(
      await db.all(
        wavesOf,
        rows.map(({ seq }) => seq),
      ),
      (row) => row.schedule,
    );
    return rows.map((row) => ({
      ...codec.toRecord(row),
      seq: row.seq,
      waves: (waves.get(row.seq) ?? []).map(toWave),
    }));
  }

  const create = db.decision(
    "schedules.create",
    async (tx, schedule: NewSchedule, maxOpen: number): Promise<"created" | "too-many"> => {
      const { waves, appId } = schedule;
      await tx.get(lockApp, appId);
      if (((await tx.get(countOpen, appId))?.count ?? 0) >= maxOpen) return "too-many";
      const lastDueAt = Math.max(...waves.map(({ dueAt }) => dueAt));
      const [added] = await tx.all(insert, ...codec.values({ ...schedule, lastDueAt, endedAt: null }));
      if (!added) throw new Error("a row that was just written is missing");
      const rows = waves.map(({ wave, dueAt, variant }) => [wave, dueAt * 1000, variant]);
      await tx.run(insertWaves, added.seq, JSON.stringify(rows));
      return "created";
    },
  );

  const fire = db.decision(
    "schedules.fire",
    async (
      tx,
      seq: number,
      wave: number,
      campaign: NewPart,
      limits: { readonly lateOkSecs: number; readonly maxUnfinished: number } & RunLimits,
    ): Promise<FireOutcome> => {
      const due = await tx.get(lockDue, seq, wave);
      if (!due) return "taken";
      const lateMs = tx.clock.dueMs() - due.due_at_ms;
      if (lateMs < 0) return "early";
      if (lateMs > limits.lateOkSecs * 1000) {
        await tx.run(markNotSent, seq, wave, "missed", null);
        await endIfDecided(tx, seq);
        return "late";
      }
      const { share, ...part } = campaign;
      if ((await addCampaign(tx, { ...part, audience: { share }, schedule: seq }, limits)) === "too-many")
        return "too-many";
      await tx.run(markSent, seq, wave, tx.node.bootId, campaign.campaignId);
      await endIfDecided(tx, seq);
      return "sent";
    },
  );

  const hold = db.decision("schedules.hold", async (tx, seq: number, wave: number, reason: HeldReason) => {
    await tx.run(markNotSent, seq, wave, "held", reason);
    await endIfDecided(tx, seq);
  });

  return {
    create,

    async find(scheduleId) {
      const row = await db.get(byId, scheduleId);
      return row && (await withWaves([row]))[0];
    },

    list: async ({ appId, before, max }) => withWaves(await db.all(pageOfApp, appId, before, max)),

    cancel: db.decision("schedules.cancel", async (tx, scheduleId: string) => {
      const seq = (await tx.get(byId, scheduleId))?.seq;
      if (seq === undefined) return 0;
      const cancelled = await tx.run(cancelDue, seq);
      if (cancelled > 0) await endIfDecided(tx, seq);
      return cancelled;
    }),

    due: async (nowSecs, max, exceptApps = []) =>
      (await db.all(dueNow, nowSecs * 1000, max, exceptApps)).map(
        (row): DueWave => ({
          ...codec.toRecord(row),
          seq: row.seq,
          wave: row.wave,
          dueAt: secsOf(row.due_at_ms),
          variant: row.variant,
        }),
      ),

    fire: ({ seq, wave }, campaign, limits) => fire(seq, wave, campaign, { ...limits, ...runLimits }),

    hold: async ({ seq, wave }, reason) => hold(seq, wave, reason),
  };
}

/** Deletes schedules a campaign's retention after their end, because running campaigns read their audience. */
export function scheduleSweep(db: StateDb): Sweep {
  return db.sweep("schedules", async (tx, maxRows) => {
    let deleted = 0;
    while (deleted < maxRows) {
      const old = await tx.get(ended, tx.clock.sweepableSecs() - CAMPAIGN_RETENTION_SECS);
      if (!old) break;
      deleted += await tx.run(deleteWaves, old.seq);
      deleted += await tx.run(deleteSchedule, old.seq);
    }
    return deleted;
  });
}
