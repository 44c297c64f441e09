import type { Severity } from "../checks/check.ts";
import { type Incident, incidentCodec, type incidents, REMIND_SECS } from "../checks/incident-store.ts";
import { sql } from "../db/state/sql.ts";
import type { StateDb, Tx } from "../db/state/state-db.ts";
import { type RecordOf, type Row, recordCodec } from "../db/state/table.ts";
import { type Notice, noticeOf } from "./notice.ts";
import { dueAfterQuiet } from "./quiet-hours.ts";
import { noticeChannels, notices, vapidKeys } from "./tables.ts";

export type NoticeChannel = RecordOf<typeof noticeChannels>;
/** What of a channel can be changed: who is called for which incidents, and when. */
export type NoticeTerms = Partial<Pick<NoticeChannel, "label" | "severity" | "checks" | "quiet">>;
export type StoredVapidKey = RecordOf<typeof vapidKeys>;
type Queued = RecordOf<typeof notices>;

/** A channel that this node calls until its lease ends, with what is to be sent, the oldest first. */
export interface NoticeClaim {
  readonly channel: NoticeChannel;
  readonly notices: readonly Queued[];
}

/** How the call of a claimed channel ended. */
export interface NoticeOutcome {
  /** Sent or given up. */
  readonly done: readonly Pick<Queued, "incidentId" | "sentAt">[];
  readonly sent: number;
  readonly attempts: number;
  /** Undefined when nothing was called. */
  readonly last: { readonly at: number; readonly error: string } | undefined;
  /** When it is next called whatever waits; undefined: when the next notice is due. */
  readonly retryAt: number | undefined;
}

export const MAX_CHANNELS = 50;
export const NOTICE_LEASE_SECS = 60;
export const HOUR_SECS = 3600;
const MAX_CLAIMED = 100;
const MAX_UNSENT = 50;
/** An incident that opened again so often is sent once an hour. */
const MAX_FLAPS = 3;

export interface NoticeStore {
  list(): Promise<readonly NoticeChannel[]>;
  /** Adds a channel, or replaces the one with its id. False where there are `MAX_CHANNELS`. */
  add(channel: NoticeChannel): Promise<boolean>;
  /** Changes the terms of a channel; what waits for it stays. Returns whether it is there. */
  edit(channelId: string, terms: NoticeTerms): Promise<boolean>;
  /** Removes a channel with what waits for it. Returns whether it was there. */
  remove(channelId: string): Promise<boolean>;
  /** Gives one channel a notice, as a test does. */
  put(channelId: string, notice: Notice): Promise<boolean>;
  /** Whether an incident has to be sent, or a channel to be called. */
  isDue(nowSecs: number): Promise<boolean>;
  /** Gives what changed of incidents to the channels that get it, each change once. Returns the number of incidents. */
  queue(nowSecs: number): Promise<number>;
  /** Takes a channel with due notices for `NOTICE_LEASE_SECS`, to exactly one of concurrent callers. */
  claim(nowSecs: number): Promise<NoticeClaim | undefined>;
  /** Ends a claim. False, without a change, where another node has the channel. */
  settle(
    channel: Pick<NoticeChannel, "channelId" | "claims">,
    outcome: NoticeOutcome,
    nowSecs: number,
  ): Promise<boolean>;
  /** The key; undefined before it is made. */
  vapidKey(): Promise<StoredVapidKey | undefined>;
  /** Adds the key, unless there is one. Returns the one that counts. */
  makeVapidKey(key: StoredVapidKey): Promise<StoredVapidKey>;
  /** Replaces sealed bytes, unless they have changed. */
  reseal(id: string, before: Uint8Array, after: Pick<NoticeChannel, "secret" | "keyId">): Promise<boolean>;
}

const codec = recordCodec(noticeChannels);
const queuedCodec = recordCodec(notices);
const vapidCodec = recordCodec(vapidKeys);
type Stored = Row<typeof noticeChannels>;

const listAll = sql<Stored>(
  "notices.channels",
  `SELECT ${codec.columns} FROM notice_channels WHERE channel_id > '' ORDER BY channel_id`,
);
const findOne = sql<Stored, [id: string]>(
  "notices.channel",
  `SELECT ${codec.columns} FROM notice_channels WHERE channel_id = $1 FOR UPDATE`,
);
const insert = sql<unknown, ReturnType<typeof codec.values>>("notices.add-channel", codec.insert);
const remove = sql<unknown, [id: string]>(
  "notices.remove-channel",
  "DELETE FROM notice_channels WHERE channel_id = $1",
);
const removeNotices = sql<unknown, [id: string]>(
  "notices.remove-all",
  "DELETE FROM notices WHERE channel_id = $1",
);
const removeNotice = sql<unknown, [id: string, incidentId: string, sentAt: number]>(
  "notices.remove",
  "DELETE FROM notices WHERE channel_id = $1 AND incident_id = $2 AND sent_at = $3",
);
const put = sql<unknown, ReturnType<typeof queuedCodec.values>>(
  "notices.put",
  `${queuedCodec.insert} ON CONFLICT (channel_id, incident_id) DO UPDATE
   SET sent_at = excluded.sent_at, due_at = excluded.due_at, content = excluded.content`,
);
const setDue = sql<unknown, [dueAt: number, id: string]>(
  "notices.set-due",
  "UPDATE notice_channels SET due_at = least(coalesce(due_at, $1), $1) WHERE channel_id = $2",
);
const anyUnsent = sql<{ one: number }, [nowSecs: number]>(
  "notices.any-unsent",
  "SELECT 1 AS one FROM incidents WHERE unsent_at <= $1 LIMIT 1",
);
const anyDue = sql<{ one: number }, [nowSecs: number]>(
  "notices.any-due",
  "SELECT 1 AS one FROM notice_channels WHERE due_at <= $1 AND leased_until <= $1 LIMIT 1",
);
const unsent = sql<Row<typeof incidents>, [nowSecs: number, max: number]>(
  "notices.unsent",
  `SELECT ${incidentCodec.columns} FROM incidents WHERE unsent_at <= $1 ORDER BY unsent_at LIMIT $2 FOR UPDATE SKIP LOCKED`,
);
const setSent = sql<
  unknown,
  [unsentAt: number | null, sentState: string | null, sentAt: number | null, id: string]
>(
  "notices.set-sent",
  "UPDATE incidents SET unsent_at = $1, sent_state = $2, sent_at = $3 WHERE incident_id = $4",
);
const claimOne = sql<Stored, [leasedUntil: number, nowSecs: number]>(
  "notices.claim",
  `UPDATE notice_channels SET leased_until = $1, claims = claims + 1 WHERE channel_id =
     (SELECT c.channel_id FROM notice_channels c WHERE c.due_at <= $2 AND c.leased_until <= $2
      ORDER BY c.due_at LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING ${codec.columns}`,
);
const dueNotices = sql<Row<typeof notices>, [id: string, nowSecs: number, max: number]>(
  "notices.due",
  `SELECT ${queuedCodec.columns} FROM notices WHERE channel_id = $1 AND due_at <= $2 ORDER BY due_at, sent_at LIMIT $3`,
);
const settleOne = sql<
  unknown,
  [
    hour: number,
    sent: number,
    attempts: number,
    at: number | null,
    error: string | null,
    retryAt: number | null,
    id: string,
    claims: number,
  ]
>(
  "notices.settle",
  `UPDATE notice_channels SET leased_until = 0, hour = $1, sent = CASE WHEN hour = $1 THEN sent + $2 ELSE $2 END, attempts = $3,
     last_at = coalesce($4::bigint, last_at), last_error = coalesce($5::text, last_error),
     due_at = CASE WHEN $6::bigint IS NULL THEN (SELECT min(n.due_at) FROM notices n WHERE n.channel_id = $7)
       WHEN EXISTS (SELECT 1 FROM notices n WHERE n.channel_id = $7) THEN $6::bigint END
   WHERE channel_id = $7 AND claims = $8`,
);
const claimOf = sql<{ claims: number }, [id: string]>(
  "notices.claim-of",
  "SELECT claims FROM notice_channels WHERE channel_id = $1 FOR UPDATE",
);
const findVapid = sql<Row<typeof vapidKeys>>(
  "notices.vapid-key",
  `SELECT ${vapidCodec.columns} FROM vapid_keys WHERE public_key > '' ORDER BY public_key LIMIT 1`,
);
const addVapid = sql<unknown, ReturnType<typeof vapidCodec.values>>(
  "notices.add-vapid-key",
  vapidCodec.insert,
);
const resealChannel = sql<unknown, [secret: Uint8Array, keyId: string, id: string, before: Uint8Array]>(
  "notices.reseal-channel",
  "UPDATE notice_channels SET secret = $1, key_id = $2 WHERE channel_id = $3 AND secret = $4",
);
const resealVapid = sql<unknown, [secret: Uint8Array, keyId: string, id: string, before: Uint8Array]>(
  "notices.reseal-vapid-key",
  "UPDATE vapid_keys SET secret = $1, key_id = $2 WHERE public_key = $3 AND secret = $4",
);

const RANK: Readonly<Record<Severity, number>> = { notice: 0, warning: 1, critical: 2 };

/** What is sent of an incident now, and when it is looked at again. */
function nextNoticeOf(incident: Incident, nowSecs: number) {
  const { resolvedAt, mutedUntil, flaps, ackedAt, sentState, sentAt } = incident;
  const keep = (unsentAt: number | null, kept: Incident["sentState"] = sentState) => ({
    state: undefined,
    unsentAt,
    sentState: kept,
    sentAt,
  });
  if (mutedUntil !== null && mutedUntil > nowSecs)
    return resolvedAt === null ? keep(mutedUntil) : keep(null, "resolved");
  if (flaps >= MAX_FLAPS && sentAt !== null && nowSecs < sentAt + HOUR_SECS) return keep(sentAt + HOUR_SECS);
  if (resolvedAt !== null)
    return sentState === "open"
      ? ({ state: "resolved", unsentAt: null, sentState: "resolved", sentAt: nowSecs } as const)
      : keep(null);
  const openNow = { unsentAt: nowSecs + REMIND_SECS, sentState: "open", sentAt: nowSecs } as const;
  if (sentState !== "open" || sentAt === null) return { state: "open", ...openNow } as const;
  if (nowSecs < sentAt + REMIND_SECS) return keep(sentAt + REMIND_SECS);
  return ackedAt === null ? ({ state: "reminder", ...openNow } as const) : keep(null);
}

async function queueIn(tx: Tx, nowSecs: number): Promise<number> {
  const rows = await tx.all(unsent, nowSecs, MAX_UNSENT);
  if (rows.length === 0) return 0;
  const channels = (await tx.all(listAll)).map(codec.toRecord);
  for (const incident of rows.map(incidentCodec.toRecord)) {
    const { state, unsentAt, sentState, sentAt } = nextNoticeOf(incident, nowSecs);
    const { incidentId, checkId, severity } = incident;
    for (const { channelId, severity: lowest, checks, quiet } of state ? channels : []) {
      if (RANK[severity] < RANK[lowest] || (checks.length > 0 && !checks.includes(checkId))) continue;
      const dueAt = severity === "critical" ? nowSecs : dueAfterQuiet(quiet, nowSecs);
      const content = noticeOf(incident, state ?? "open", nowSecs);
      await tx.run(put, ...queuedCodec.values({ channelId, incidentId, sentAt: nowSecs, dueAt, content }));
      await tx.run(setDue, dueAt, channelId);
    }
    await tx.run(setSent, unsentAt, sentState, sentAt, incidentId);
  }
  return rows.length;
}

export function createNoticeStore(db: StateDb): NoticeStore {
  const removeIn = async (tx: Tx, id: string) => {
    await tx.run(removeNotices, id);
    return (await tx.run(remove, id)) === 1;
  };
  return {
    list: async () => (await db.all(listAll)).map(codec.toRecord),
    add: db.decision("notices.add", async (tx, channel: NoticeChannel) => {
      await tx.lock("owner", "notice-channels");
      await removeIn(tx, channel.channelId);
      if ((await tx.all(listAll)).length >= MAX_CHANNELS) return false;
      await tx.run(insert, ...codec.values(channel));
      return true;
    }),
    edit: db.decision<[string, NoticeTerms], boolean>("notices.edit", async (tx, channelId, terms) => {
      const row = await tx.get(findOne, channelId);
      if (!row) return false;
      await tx.run(remove, channelId);
      await tx.run(insert, ...codec.values({ ...codec.toRecord(row), ...terms }));
      return true;
    }),
    remove: db.decision("notices.removeChannel", removeIn),
    put: db.decision("notices.put", async (tx, channelId: string, content: Notice) => {
      if (!(await tx.get(claimOf, channelId))) return false;
      const { at } = content;
      await tx.run(
        put,
        ...queuedCodec.values({ channelId, incidentId: content.incident, sentAt: at, dueAt: at, content }),
      );
      await tx.run(setDue, at, channelId);
      return true;
    }),
    isDue: async (nowSecs) =>
      (await db.get(anyUnsent, nowSecs)) !== undefined || (await db.get(anyDue, nowSecs)) !== undefined,
    queue: db.decision("notices.queue", queueIn),
    claim: db.decision<[number], NoticeClaim | undefined>("notices.claim", async (tx, nowSecs) => {
      const row = await tx.get(claimOne, nowSecs + NOTICE_LEASE_SECS, nowSecs);
      if (!row) return undefined;
      const channel = codec.toRecord(row);
      const due = await tx.all(dueNotices, channel.channelId, nowSecs, MAX_CLAIMED);
      return { channel, notices: due.map(queuedCodec.toRecord) };
    }),
    settle: db.decision<Parameters<NoticeStore["settle"]>, boolean>(
      "notices.settle",
      async (tx, { channelId, claims }, { done, sent, attempts, last, retryAt }, nowSecs) => {
        if ((await tx.get(claimOf, channelId))?.claims !== claims) return false;
        for (const { incidentId, sentAt } of done) await tx.run(removeNotice, channelId, incidentId, sentAt);
        const hour = Math.floor(nowSecs / HOUR_SECS);
        const { at = null, error = null } = last ?? {};
        return (
          (await tx.run(settleOne, hour, sent, attempts, at, error, retryAt ?? null, channelId, claims)) === 1
        );
      },
    ),
    async vapidKey() {
      const row = await db.get(findVapid);
      return row && vapidCodec.toRecord(row);
    },
    makeVapidKey: db.decision("notices.makeVapidKey", async (tx, made: StoredVapidKey) => {
      await tx.lock("owner", "vapid-key");
      const there = await tx.get(findVapid);
      if (there) return vapidCodec.toRecord(there);
      await tx.run(addVapid, ...vapidCodec.values(made));
      return made;
    }),
    reseal: db.decision<Parameters<NoticeStore["reseal"]>, boolean>(
      "notices.reseal",
      async (tx, id, before, { secret, keyId }) =>
        (await tx.run(resealChannel, secret, keyId, id, before)) +
          (await tx.run(resealVapid, secret, keyId, id, before)) ===
        1,
    ),
  };
}
