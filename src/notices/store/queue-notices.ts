import type { Severity } from "../../checks/check.ts";
import { type Incident, incidentCodec, type incidents, REMIND_SECS } from "../../checks/incident-store.ts";
import { ownerCheckOf } from "../../checks/owners/owner-table.ts";
import { sql } from "../../db/state/sql.ts";
import type { Tx } from "../../db/state/state-db.ts";
import { type RecordOf, type Row, recordCodec } from "../../db/state/table.ts";
import { type Notice, noticeOf, OPERATOR } from "../notice.ts";
import { dueAfterQuiet } from "../quiet-hours.ts";
import { noticeChannels, notices } from "./tables.ts";

export type NoticeChannel = RecordOf<typeof noticeChannels>;
export const HOUR_SECS = 3600;
const MAX_UNSENT = 50;
/** Once an incident has reopened this often, it is sent only once an hour. */
const MAX_FLAPS = 3;

type ChannelTerms = Pick<NoticeChannel, "severity" | "checks">;
type Stored = Row<typeof noticeChannels>;

const codec = recordCodec(noticeChannels);
const queuedCodec = recordCodec(notices);

export const listOwn = sql<Stored, [ownerFid: number]>(
  "notices.channels-of-owner",
  `SELECT ${codec.columns} FROM notice_channels WHERE owner_fid = $1 ORDER BY channel_id`,
);
const put = sql<unknown, ReturnType<typeof queuedCodec.values>>(
  "notices.put",
  `${queuedCodec.insert} ON CONFLICT (channel_id, incident_id) DO UPDATE
   SET sent_at = excluded.sent_at, due_at = excluded.due_at, content = excluded.content`,
);
/** A failing channel waits for its retry time, unless someone tests it. */
const setDue = sql<unknown, [dueAt: number, id: string, isTried: number]>(
  "notices.set-due",
  `UPDATE notice_channels
   SET due_at = CASE WHEN attempts > 0 AND $3 = 0 THEN coalesce(due_at, $1) ELSE least(coalesce(due_at, $1), $1) END
   WHERE channel_id = $2`,
);
const unsent = sql<Row<typeof incidents>, [nowSecs: number, max: number, fromFid: number, toFid: number]>(
  "notices.unsent",
  `SELECT ${incidentCodec.columns} FROM incidents WHERE unsent_at <= $1 AND owner_fid BETWEEN $3 AND $4
   ORDER BY unsent_at LIMIT $2 FOR UPDATE SKIP LOCKED`,
);
/** Without `SKIP LOCKED`, because this must wait until another node has queued the same incidents. */
const ended = sql<Row<typeof incidents>, [nowSecs: number, max: number, fromFid: number, toFid: number]>(
  "notices.ended",
  `SELECT ${incidentCodec.columns} FROM incidents
   WHERE unsent_at <= $1 AND resolved_at IS NOT NULL AND owner_fid BETWEEN $3 AND $4
   ORDER BY unsent_at LIMIT $2 FOR UPDATE`,
);
const setSent = sql<
  unknown,
  [unsentAt: number | null, sentState: string | null, sentAt: number | null, id: string]
>(
  "notices.set-sent",
  "UPDATE incidents SET unsent_at = $1, sent_state = $2, sent_at = $3 WHERE incident_id = $4",
);

const openNow = sql<Row<typeof incidents>, [fromFid: number, toFid: number, max: number]>(
  "notices.open",
  // Every check has a non-empty id; the condition only makes the planner use the index of open incidents.
  `SELECT ${incidentCodec.columns} FROM incidents
   WHERE resolved_at IS NULL AND check_id > '' AND owner_fid BETWEEN $1 AND $2 ORDER BY opened_at DESC LIMIT $3 FOR UPDATE`,
);

const RANK: Readonly<Record<Severity, number>> = { notice: 0, warning: 1, critical: 2 };

const ALL_OWNERS = [OPERATOR + 1, Number.MAX_SAFE_INTEGER] as const;
/** Returns the range of owners whose incidents a channel of this owner receives. The operator's channels receive those of all owners. */
const ownersOf = (ownerFid: number) => (ownerFid === OPERATOR ? ALL_OWNERS : ([ownerFid, ownerFid] as const));

/** Returns the notice to send for an incident now, and when to look at the incident again. */
function nextNoticeOf(incident: Incident, nowSecs: number) {
  const { checkId, resolvedAt, mutedUntil, flaps, ackedAt, sentState, sentAt } = incident;
  const keep = (unsentAt: number | null, kept: Incident["sentState"] = sentState) => ({
    state: undefined,
    unsentAt,
    sentState: kept,
    sentAt,
  });
  if (mutedUntil !== null && mutedUntil > nowSecs)
    return resolvedAt === null ? keep(mutedUntil) : keep(null, "resolved");
  if (ownerCheckOf(checkId)?.isSentOnce)
    return sentState === null && resolvedAt === null
      ? ({ state: "open", unsentAt: null, sentState: "open", sentAt: nowSecs } as const)
      : keep(null);
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

/** Queues a notice for a channel, and replaces an earlier notice of the same incident. Does nothing if the channel was removed. */
export async function putIn(tx: Tx, channelId: string, dueAt: number, content: Notice): Promise<void> {
  const { incident: incidentId, at: sentAt } = content;
  // Comes first because it locks the channel.
  if ((await tx.run(setDue, dueAt, channelId, content.state === "test" ? 1 : 0)) === 0) return;
  await tx.run(put, ...queuedCodec.values({ channelId, incidentId, sentAt, dueAt, content }));
}

function gets({ severity: lowest, checks }: ChannelTerms, { severity, checkId }: Incident): boolean {
  return RANK[severity] >= RANK[lowest] && (checks.length === 0 || checks.includes(checkId));
}

function putIncidentIn(
  tx: Tx,
  { channelId, quiet }: NoticeChannel,
  incident: Incident,
  state: Parameters<typeof noticeOf>[1],
  nowSecs: number,
): Promise<void> {
  const dueAt = incident.severity === "critical" ? nowSecs : dueAfterQuiet(quiet, nowSecs);
  return putIn(tx, channelId, dueAt, noticeOf(incident, state, nowSecs));
}

/**
 * Returns the open incidents that a channel of an owner may receive, and locks them: a concurrent transaction that queues notices has
 * either queued them already, or waits for this one. Queues ended incidents for the existing channels first. Call it before you lock a
 * channel, which is the lock order of `queueIn`.
 */
export async function lockOpenIn(tx: Tx, ownerFid: number, nowSecs: number): Promise<readonly Incident[]> {
  await queueEndsIn(tx, ownerFid, nowSecs);
  const ofNode = ownerFid === OPERATOR ? await tx.all(openNow, OPERATOR, OPERATOR, MAX_UNSENT) : [];
  const ofOwners = await tx.all(openNow, ...ownersOf(ownerFid), MAX_UNSENT);
  return [...ofNode, ...ofOwners].map(incidentCodec.toRecord);
}

/**
 * Queues for a channel the open incidents that other channels have already received, because it would otherwise get only their reminders.
 * Incidents that have not been sent yet reach every channel anyway.
 *
 * @param had the previous terms of the channel. Incidents that it received under them are left out.
 */
export async function putOpenIn(
  tx: Tx,
  channel: NoticeChannel,
  open: readonly Incident[],
  nowSecs: number,
  had?: ChannelTerms,
): Promise<void> {
  for (const incident of open) {
    const { sentState, mutedUntil } = incident;
    const isSent = sentState === "open" && (mutedUntil === null || mutedUntil <= nowSecs);
    if (isSent && gets(channel, incident) && !(had && gets(had, incident)))
      await putIncidentIn(tx, channel, incident, "open", nowSecs);
  }
}

/** Queues changes of incidents for the channels of the operator and of the affected owners. Returns the number of incidents. */
export async function queueIn(tx: Tx, nowSecs: number): Promise<number> {
  // Read separately, so that owners' incidents, however many, do not delay those of the node.
  const rows = [
    ...(await tx.all(unsent, nowSecs, MAX_UNSENT, OPERATOR, OPERATOR)),
    ...(await tx.all(unsent, nowSecs, MAX_UNSENT, ...ALL_OWNERS)),
  ];
  await giveIn(tx, rows, nowSecs);
  return rows.length;
}

/**
 * Queues ended incidents for the existing channels before one of the owner is added or its terms are widened. That channel would
 * otherwise get the end of an incident whose start it never received.
 */
async function queueEndsIn(tx: Tx, ownerFid: number, nowSecs: number): Promise<void> {
  const ofNode = ownerFid === OPERATOR ? await tx.all(ended, nowSecs, MAX_UNSENT, OPERATOR, OPERATOR) : [];
  const ofOwners = await tx.all(ended, nowSecs, MAX_UNSENT, ...ownersOf(ownerFid));
  await giveIn(tx, [...ofNode, ...ofOwners], nowSecs);
}

async function giveIn(tx: Tx, rows: readonly Row<typeof incidents>[], nowSecs: number): Promise<void> {
  const channels = new Map<number, readonly NoticeChannel[]>();
  const channelsOf = async (ownerFid: number) => {
    const known = channels.get(ownerFid) ?? (await tx.all(listOwn, ownerFid)).map(codec.toRecord);
    channels.set(ownerFid, known);
    return known;
  };
  for (const incident of rows.map(incidentCodec.toRecord)) {
    const { state, unsentAt, sentState, sentAt } = nextNoticeOf(incident, nowSecs);
    const { incidentId, ownerFid } = incident;
    const own = state && ownerFid !== OPERATOR ? await channelsOf(ownerFid) : [];
    for (const channel of state ? [...(await channelsOf(OPERATOR)), ...own] : [])
      if (gets(channel, incident)) await putIncidentIn(tx, channel, incident, state ?? "open", nowSecs);
    await tx.run(setSent, unsentAt, sentState, sentAt, incidentId);
  }
}
