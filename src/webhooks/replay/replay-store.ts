import { sql } from "../../db/state/sql.ts";
import type { StateDb, Sweep, Tx } from "../../db/state/state-db.ts";
import { type Row, recordCodec } from "../../db/state/table.ts";
import type { Claim, StoreRefusal } from "../../management/owned-store.ts";
import { DELIVERY_RETENTION_SECS } from "../store/attempt-stats.ts";
import { type DeliveryState, deliveryStates } from "../store/delivery-log.ts";
import type { QueuedEvent, QueueLimits } from "../store/delivery-publications.ts";
import { addToDeliveryTotals } from "../store/delivery-totals.ts";
import { endedBetween, lockOwn, requeue } from "../store/log/requeue.ts";
import { messageIdOf, queueEvents, storedMessageIds } from "../store/queue-events.ts";
import type { ReplayScope } from "./replay-scope.ts";
import { type NewReplay, type Replay, type ReplayState, webhookReplays } from "./replay-table.ts";

/** A replay waits while the webhook has deliveries for this many seconds in its queue, because live ones take precedence. */
const QUEUED_AHEAD = 2;
const LEASE_SECS = 60;
const MAX_RUNNING = 1_000;

/** The result of a step. `waits`: the webhook's queue has enough deliveries. `ended`: the replay no longer runs, or not here. */
export type ReplayStep = "waits" | "ended" | { readonly queued: number; readonly more: boolean };

/** The replays of all webhooks. Every method is atomic. */
export interface ReplayStore {
  /** Starts a replay. `running`: the webhook already has one. */
  start(replay: NewReplay, nowSecs: number): Promise<"started" | "running" | "inactive" | StoreRefusal>;
  find(replayId: string): Promise<Replay | undefined>;
  /** Ends a running replay. Deliveries that it has queued are still sent. Returns false for a replay that has already ended. */
  cancel(replayId: string, ownerFid: number, nowSecs: number): Promise<boolean>;
  /** Counts deliveries of a webhook in a time range by state, up to `max` of each. */
  count(
    claim: Claim,
    range: { readonly fromSecs: number; readonly toSecs: number },
    max: number,
  ): Promise<Readonly<Partial<Record<DeliveryState, number>>>>;
  /** Returns which of some deliveries exist. */
  stored(messageIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Claims the replays that this process runs from now on: its own, and those whose lease has expired. */
  claim(nowSecs: number): Promise<readonly Replay[]>;
  /** Queues the next finished deliveries again. `more` is false once all were examined. */
  requeueNext(replayId: string, nowMs: number): Promise<ReplayStep>;
  /** Queues events that the webhook never received, and omits those that it did. */
  queueMissing(
    replayId: string,
    events: readonly Omit<QueuedEvent, "webhookIds">[],
    nowMs: number,
  ): Promise<ReplayStep>;
  /** @param reason why the node stopped it; null if it is complete */
  end(replayId: string, reason: string | null, nowSecs: number): Promise<void>;
}

const codec = recordCodec(webhookReplays);
type Stored = Row<typeof webhookReplays>;
const { columns } = codec;

const insert = sql<unknown, ReturnType<typeof codec.values>>(
  "webhook-replays.insert",
  `${codec.insert} ON CONFLICT (webhook) WHERE ended_at IS NULL DO NOTHING`,
);
const find = sql<Stored, [replayId: string]>(
  "webhook-replays.find",
  `SELECT ${columns} FROM webhook_replays WHERE replay_id = $1`,
);
const lockRunning = sql<Stored, [replayId: string, bootId: string]>(
  "webhook-replays.running",
  `SELECT ${columns} FROM webhook_replays WHERE replay_id = $1 AND state = 'running' AND claimed_by = $2 FOR UPDATE`,
);
const setEnd = sql<unknown, [state: ReplayState, reason: string | null, nowSecs: number, replayId: string]>(
  "webhook-replays.end",
  `UPDATE webhook_replays SET state = $1, reason = $2, ended_at = $3, claimed_by = NULL, lease_ends_at = NULL
   WHERE replay_id = $4 AND state = 'running'`,
);
const cancel = sql<unknown, [nowSecs: number, replayId: string, ownerFid: number]>(
  "webhook-replays.cancel",
  `UPDATE webhook_replays SET state = 'cancelled', ended_at = $1, claimed_by = NULL, lease_ends_at = NULL
   WHERE replay_id = $2 AND owner_fid = $3 AND state = 'running'`,
);
const move = sql<
  unknown,
  [sent: number, lastCreatedAt: number | null, lastSeq: number, leaseEndsAt: number, replayId: string]
>(
  "webhook-replays.move",
  `UPDATE webhook_replays SET sent = sent + $1, last_created_at = $2, last_seq = $3, lease_ends_at = $4 WHERE replay_id = $5`,
);
// No webhook has the number 0: the condition makes the database use the index of running replays.
const claim = sql<Stored, [bootId: string, leaseEndsAt: number, nowSecs: number, max: number]>(
  "webhook-replays.claim",
  `UPDATE webhook_replays SET claimed_by = $1, lease_ends_at = $2 WHERE replay_id IN
     (SELECT r.replay_id FROM webhook_replays r WHERE r.ended_at IS NULL AND r.webhook > 0
        AND (r.claimed_by = $1 OR r.lease_ends_at IS NULL OR r.lease_ends_at < $3) LIMIT $4 FOR UPDATE SKIP LOCKED)
   RETURNING ${columns}`,
);
const anyRunning = sql<{ webhook: number }>(
  "webhook-replays.any-running",
  "SELECT webhook FROM webhook_replays WHERE ended_at IS NULL AND webhook > 0 LIMIT 1",
);
const countByState = sql<
  { state: DeliveryState; n: number },
  [webhookId: string, states: string, fromSecs: number, toSecs: number, max: number]
>(
  "deliveries.count-between",
  `SELECT t.value AS state, (SELECT count(*) FROM (SELECT 1 FROM deliveries l
     WHERE l.webhook = w.seq AND l.state = t.value AND l.created_at >= $3 AND l.created_at <= $4 LIMIT $5) c) AS n
   FROM elements($2) t JOIN webhooks w ON w.webhook_id = $1`,
);
const tag = sql<unknown, [replayId: string, messageIds: readonly string[]]>(
  "deliveries.tag-replay",
  "UPDATE deliveries SET replay_id = $1 WHERE message_id = ANY ($2::text[])",
);
const deleteOld = sql<unknown, [endedUntil: number, max: number]>(
  "webhook-replays.sweep",
  `DELETE FROM webhook_replays WHERE replay_id IN
     (SELECT r.replay_id FROM webhook_replays r WHERE r.ended_at <= $1 ORDER BY r.ended_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

const STATES: Readonly<Record<ReplayScope, readonly DeliveryState[]>> = {
  failed: ["failed", "dropped"],
  missing: ["failed", "dropped"],
  all: ["failed", "dropped", "delivered"],
};

export function createReplays(db: StateDb, limits: QueueLimits): ReplayStore {
  const claimRunning = db.decision<[nowSecs: number], readonly Replay[]>(
    "replays.claim",
    async (tx, nowSecs) => {
      const rows = await tx.all(claim, tx.node.bootId, nowSecs + LEASE_SECS, nowSecs, MAX_RUNNING);
      return rows.map((row) => codec.toRecord(row));
    },
  );

  return {
    start: db.decision<Parameters<ReplayStore["start"]>, Awaited<ReturnType<ReplayStore["start"]>>>(
      "replays.start",
      async (tx, replay, nowSecs) => {
        const own = { id: replay.webhookId, ownerFid: replay.ownerFid, nowSecs };
        const webhook = await lockOwn(tx, own);
        if (typeof webhook === "string") return webhook;
        const added = await tx.run(
          insert,
          ...codec.values({
            ...replay,
            webhook: webhook.seq,
            state: "running",
            reason: null,
            sent: 0,
            lastCreatedAt: replay.fromAt,
            lastSeq: 0,
            claimedBy: null,
            leaseEndsAt: null,
            createdAt: nowSecs,
            endedAt: null,
          }),
        );
        return added > 0 ? "started" : "running";
      },
    ),

    async find(replayId) {
      const row = await db.get(find, replayId);
      return row && codec.toRecord(row);
    },

    cancel: db.decision<Parameters<ReplayStore["cancel"]>, boolean>(
      "replays.cancel",
      async (tx, replayId, ownerFid, nowSecs) => (await tx.run(cancel, nowSecs, replayId, ownerFid)) > 0,
    ),

    async count({ id }, { fromSecs, toSecs }, max) {
      const rows = await db.all(countByState, id, JSON.stringify(deliveryStates), fromSecs, toSecs, max);
      return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
    },

    stored: (messageIds) => storedMessageIds(db, messageIds),

    async claim(nowSecs) {
      return (await db.get(anyRunning)) ? claimRunning(nowSecs) : [];
    },

    requeueNext: db.decision<Parameters<ReplayStore["requeueNext"]>, ReplayStep>(
      "replays.requeueNext",
      async (tx, replayId, nowMs) => {
        const nowSecs = Math.floor(nowMs / 1000);
        const replay = await runningHere(tx, replayId, nowSecs);
        if (typeof replay === "string") return replay;
        const { webhook, scope, toAt, lastCreatedAt, lastSeq } = replay;
        if (lastCreatedAt === null) return { queued: 0, more: false };
        const max = Math.min(replay.perSecond, replay.maxSent - replay.sent);
        const states = JSON.stringify(STATES[scope]);
        const found = await tx.all(endedBetween, webhook, states, lastCreatedAt, lastSeq, toAt, max);
        const queued = await requeue(tx, webhook, found, { nowMs, replayId });
        const last = found.length === max ? found.at(-1) : undefined;
        await tx.run(move, queued, last?.created_at ?? null, last?.seq ?? 0, nowSecs + LEASE_SECS, replayId);
        return { queued, more: last !== undefined };
      },
    ),

    queueMissing: db.decision<Parameters<ReplayStore["queueMissing"]>, ReplayStep>(
      "replays.queueMissing",
      async (tx, replayId, events, nowMs) => {
        const nowSecs = Math.floor(nowMs / 1000);
        const replay = await runningHere(tx, replayId, nowSecs);
        if (typeof replay === "string") return replay;
        const { webhook, webhookId } = replay;
        const known = await storedMessageIds(
          tx,
          events.map(({ eventId }) => messageIdOf(eventId, webhookId)),
        );
        const missing = events.filter(({ eventId }) => !known.has(messageIdOf(eventId, webhookId)));
        const taken = missing.slice(0, Math.min(replay.perSecond, replay.maxSent - replay.sent));
        const { queued } = await queueEvents(tx, {
          events: taken.map((event) => ({ ...event, webhookIds: [webhookId] })),
          webhooks: [{ seq: webhook, webhookId, room: limits.maxQueued }],
          isTest: false,
          nowMs,
        });
        await tx.run(
          tag,
          replayId,
          taken.map(({ eventId }) => messageIdOf(eventId, webhookId)),
        );
        await addToDeliveryTotals(tx, "synced", { queued });
        await tx.run(move, queued, null, 0, nowSecs + LEASE_SECS, replayId);
        return { queued, more: taken.length < missing.length };
      },
    ),

    end: db.decision<Parameters<ReplayStore["end"]>, void>(
      "replays.end",
      async (tx, replayId, reason, nowSecs) => {
        await tx.run(setEnd, reason === null ? "done" : "stopped", reason, nowSecs, replayId);
      },
    ),
  };
}

/** Locks a replay that runs in this process, and the queue of its webhook. Ends a replay that cannot continue. */
async function runningHere(tx: Tx, replayId: string, nowSecs: number): Promise<Replay | "waits" | "ended"> {
  const row = await tx.get(lockRunning, replayId, tx.node.bootId);
  if (!row) return "ended";
  const replay = codec.toRecord(row);
  const { webhookId: id, ownerFid } = replay;
  const webhook = await lockOwn(tx, { id, ownerFid, nowSecs });
  if (typeof webhook === "string") {
    const reason = webhook === "inactive" ? "the webhook is disabled" : "the webhook is deleted";
    await tx.run(setEnd, "stopped", reason, nowSecs, replayId);
    return "ended";
  }
  if (replay.sent >= replay.maxSent) {
    await tx.run(setEnd, "stopped", `it has sent ${replay.maxSent} deliveries`, nowSecs, replayId);
    return "ended";
  }
  return webhook.queued >= QUEUED_AHEAD * replay.perSecond ? "waits" : replay;
}

export function replaySweep(db: StateDb): Sweep {
  return db.sweep("webhook_replays", (tx, maxRows) =>
    tx.run(deleteOld, tx.clock.sweepableSecs() - DELIVERY_RETENTION_SECS, maxRows),
  );
}
