import { type AuditEntry, addAuditEntry } from "../../audit/audit-store.ts";
import { hasMoved } from "../../auth/owners/custody-store.ts";
import { OWNER_CHECKS } from "../../checks/owners/owner-table.ts";
import { sql } from "../../db/state/sql.ts";
import type { StateDb, Tx } from "../../db/state/state-db.ts";
import { type RecordOf, type Row, recordCodec } from "../../db/state/table.ts";
import { isOfCustody, type Notice, OPERATOR } from "../notice.ts";
import { type ChannelBinding, createChannelBinding } from "./channel-binding.ts";
import {
  HOUR_SECS,
  listOwn,
  lockOpenIn,
  type NoticeChannel,
  putIn,
  putOpenIn,
  queueIn,
} from "./queue-notices.ts";
import { noticeChannels, notices, vapidKeys } from "./tables.ts";

/** The parts of a channel that can be changed: which incidents it receives, and when. */
export type NoticeTerms = Partial<Pick<NoticeChannel, "label" | "severity" | "checks" | "quiet">>;
export type StoredVapidKey = RecordOf<typeof vapidKeys>;
type Queued = RecordOf<typeof notices>;

/** A channel that this node may call until its lease ends, and its due notices: about the node first, then about records, oldest first. */
export interface NoticeClaim {
  readonly channel: NoticeChannel;
  readonly notices: readonly Queued[];
}

/** Outcome of the call of a claimed channel. */
export interface NoticeOutcome {
  /** Notices that were sent or given up. */
  readonly done: readonly Pick<Queued, "incidentId" | "sentAt">[];
  readonly sent: number;
  readonly attempts: number;
  /** Undefined if the channel was not called. */
  readonly last: { readonly at: number; readonly error: string } | undefined;
  /** Earliest time of the next call, whatever is due. Undefined: as soon as the next notice is due. */
  readonly retryAt: number | undefined;
}

export const MAX_CHANNELS = 50;
/** Maximum number of channels of all owners together. */
export const MAX_OWNERS_CHANNELS = 5000;
export const NOTICE_LEASE_SECS = 60;
const MAX_CLAIMED = 100;

/** Names a channel by its id and owner. A channel of another owner, or of an earlier custody address, is not found. */
export type OwnChannel = Pick<NoticeChannel, "channelId" | "ownerFid" | "custody">;

/** Each successful change adds `audit`, if given, to the audit log in the same transaction. */
export interface NoticeStore extends ChannelBinding {
  /** Lists all channels, or those of one owner. */
  list(ownerFid?: number): Promise<readonly NoticeChannel[]>;
  /**
   * Adds a channel, or replaces the owner's channel with the same id, and queues the open incidents that it receives. Removes the
   * channels of earlier custody addresses of the fid. Changes nothing if the owner, or all owners together, have reached their limit
   * (`full`), or if the owner has acted by a later custody address (`moved`).
   */
  add(channel: NoticeChannel, max: number, audit?: AuditEntry): Promise<"added" | "full" | "moved">;
  /**
   * Changes the terms of a channel, and queues the open incidents that it now receives for the first time. Queued notices stay. Returns
   * the channel; undefined if it does not exist.
   */
  edit(
    channel: OwnChannel,
    terms: NoticeTerms,
    nowSecs: number,
    audit?: AuditEntry,
  ): Promise<NoticeChannel | undefined>;
  /** Removes a channel and its queued notices. Returns whether the channel existed. */
  remove(channel: OwnChannel, audit?: AuditEntry): Promise<boolean>;
  /** Queues a notice for one channel, such as a test. */
  put(channel: OwnChannel, notice: Notice, audit?: AuditEntry): Promise<boolean>;
  /** Reports whether an incident has to be queued, or a channel has to be called. */
  isDue(nowSecs: number): Promise<boolean>;
  /** Queues each change of an incident once for every channel that receives it. Returns the number of incidents. */
  queue(nowSecs: number): Promise<number>;
  /** Claims a channel with due notices for `NOTICE_LEASE_SECS`, for exactly one of concurrent callers; at most one per owner. */
  claim(nowSecs: number, whose?: "all" | "operator"): Promise<NoticeClaim | undefined>;
  /** Ends a claim. Returns false, without a change, if another node has claimed the channel since. */
  settle(
    channel: Pick<NoticeChannel, "channelId" | "claims">,
    outcome: NoticeOutcome,
    nowSecs: number,
  ): Promise<boolean>;
  /** Returns the VAPID key; undefined before it is created. */
  vapidKey(): Promise<StoredVapidKey | undefined>;
  /** Adds the VAPID key unless one exists. Returns the stored one. */
  makeVapidKey(key: StoredVapidKey): Promise<StoredVapidKey>;
  /** Replaces the sealed bytes unless they have changed. */
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
const countOwners = sql<{ count: number }>(
  "notices.count-of-owners",
  "SELECT count(*) AS count FROM notice_channels WHERE owner_fid > 0",
);
const findOne = sql<Stored, [id: string, ownerFid: number, custody: Uint8Array | null]>(
  "notices.channel",
  `SELECT ${codec.columns} FROM notice_channels
   WHERE channel_id = $1 AND owner_fid = $2 AND (custody IS NULL OR custody = $3::bytea) FOR UPDATE`,
);
const insert = sql<unknown, ReturnType<typeof codec.values>>("notices.add-channel", codec.insert);
/** An update instead of a new row, which work on the old row, such as a node that is sending, would no longer find. */
const change = sql<unknown, ReturnType<typeof codec.values>>(
  "notices.change-channel",
  `${codec.insert} ON CONFLICT (channel_id) DO UPDATE
   SET label = excluded.label, severity = excluded.severity, checks = excluded.checks, quiet = excluded.quiet`,
);
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
const anyUnsent = sql<{ one: number }, [nowSecs: number]>(
  "notices.any-unsent",
  "SELECT 1 AS one FROM incidents WHERE unsent_at <= $1 LIMIT 1",
);
const anyDue = sql<{ one: number }, [nowSecs: number]>(
  "notices.any-due",
  "SELECT 1 AS one FROM notice_channels WHERE due_at <= $1 AND leased_until <= $1 LIMIT 1",
);
/** Each owner has at most one channel called at a time, so that receivers that do not respond delay only their own owner's notices. */
const claimOne = sql<Stored, [leasedUntil: number, nowSecs: number, maxOwnerFid: number]>(
  "notices.claim",
  `UPDATE notice_channels SET leased_until = $1, claims = claims + 1 WHERE channel_id =
     (SELECT c.channel_id FROM notice_channels c WHERE c.due_at <= $2 AND c.leased_until <= $2 AND c.owner_fid <= $3
      AND (c.owner_fid = ${OPERATOR} OR
        (SELECT max(o.leased_until) FROM notice_channels o WHERE o.owner_fid = c.owner_fid) <= $2)
      ORDER BY c.due_at LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING ${codec.columns}`,
);
const dueNotices = sql<Row<typeof notices>, [id: string, nowSecs: number, max: number]>(
  "notices.due",
  `SELECT ${queuedCodec.columns} FROM notices WHERE channel_id = $1 AND due_at <= $2
   ORDER BY (content::jsonb ->> 'check' IN (${OWNER_CHECKS.map(({ id }) => `'${id}'`)})), due_at, sent_at LIMIT $3`,
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

export function createNoticeStore(db: StateDb): NoticeStore {
  const record = async (tx: Tx, audit: AuditEntry | undefined) => audit && addAuditEntry(tx, audit);
  const removeIn = async (tx: Tx, { channelId, ownerFid, custody }: OwnChannel) => {
    if (!(await tx.get(findOne, channelId, ownerFid, custody))) return false;
    await tx.run(removeNotices, channelId);
    return (await tx.run(remove, channelId)) === 1;
  };
  return {
    ...createChannelBinding(db),
    list: async (ownerFid) =>
      (ownerFid === undefined ? await db.all(listAll) : await db.all(listOwn, ownerFid)).map(codec.toRecord),
    add: db.decision<Parameters<NoticeStore["add"]>, "added" | "full" | "moved">(
      "notices.add",
      async (tx, channel, max, audit) => {
        const { ownerFid, channelId, custody } = channel;
        await tx.lock("owner", "notice-channels");
        if (custody && (await hasMoved(tx, ownerFid, custody))) return "moved";
        const open = await lockOpenIn(tx, ownerFid, channel.createdAt);
        const there = (await tx.all(listOwn, ownerFid)).map(codec.toRecord);
        const over = there.filter((one) => one.channelId === channelId || !isOfCustody(one.custody, custody));
        if (there.length - over.length >= max) return "full";
        const ofOwners = ownerFid === OPERATOR ? 0 : ((await tx.get(countOwners))?.count ?? 0);
        if (ofOwners - over.length >= MAX_OWNERS_CHANNELS) return "full";
        for (const one of over) await removeIn(tx, one);
        await tx.run(insert, ...codec.values(channel));
        await putOpenIn(tx, channel, open, channel.createdAt);
        await record(tx, audit);
        return "added";
      },
    ),
    edit: db.decision<Parameters<NoticeStore["edit"]>, NoticeChannel | undefined>(
      "notices.edit",
      async (tx, { channelId, ownerFid, custody }, terms, nowSecs, audit) => {
        await tx.lock("owner", "notice-channels");
        const open = await lockOpenIn(tx, ownerFid, nowSecs);
        const row = await tx.get(findOne, channelId, ownerFid, custody);
        if (!row) return undefined;
        const before = codec.toRecord(row);
        const edited = { ...before, ...terms };
        await tx.run(change, ...codec.values(edited));
        await putOpenIn(tx, edited, open, nowSecs, before);
        await record(tx, audit);
        return edited;
      },
    ),
    remove: db.decision<Parameters<NoticeStore["remove"]>, boolean>(
      "notices.removeChannel",
      async (tx, channel, audit) => {
        const isRemoved = await removeIn(tx, channel);
        if (isRemoved) await record(tx, audit);
        return isRemoved;
      },
    ),
    put: db.decision<Parameters<NoticeStore["put"]>, boolean>(
      "notices.put",
      async (tx, { channelId, ownerFid, custody }, content, audit) => {
        if (!(await tx.get(findOne, channelId, ownerFid, custody))) return false;
        await putIn(tx, channelId, content.at, content);
        await record(tx, audit);
        return true;
      },
    ),
    isDue: async (nowSecs) =>
      (await db.get(anyUnsent, nowSecs)) !== undefined || (await db.get(anyDue, nowSecs)) !== undefined,
    queue: db.decision("notices.queue", queueIn),
    claim: db.decision<Parameters<NoticeStore["claim"]>, NoticeClaim | undefined>(
      "notices.claim",
      async (tx, nowSecs, whose = "all") => {
        const maxOwner = whose === "all" ? Number.MAX_SAFE_INTEGER : OPERATOR;
        const row = await tx.get(claimOne, nowSecs + NOTICE_LEASE_SECS, nowSecs, maxOwner);
        if (!row) return undefined;
        const channel = codec.toRecord(row);
        const due = await tx.all(dueNotices, channel.channelId, nowSecs, MAX_CLAIMED);
        return { channel, notices: due.map(queuedCodec.toRecord) };
      },
    ),
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
    vapidKey: async () => (await db.all(findVapid)).map(vapidCodec.toRecord)[0],
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
