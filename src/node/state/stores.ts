import { type AuditStore, auditSweep, createAudit } from "../../audit/audit-store.ts";
import type { StateDb } from "../../db/state/state-db.ts";
import type { Sweep } from "../../db/state/sweep.ts";
import { createNodeLogs, type NodeLogStore } from "../../ingest/hub-log/node-log-store.ts";
import { createSessions, type SessionStore, sessionSweep } from "../../sessions/session-store.ts";
import {
  createOneTimeNonces,
  type OneTimeNonceStore,
  oneTimeNonceSweep,
} from "../../signers/one-time-nonces.ts";
import { type BucketStore, bucketSweep, createBuckets } from "../../writes/limits/bucket-store.ts";
import { createSeen, type SeenStore, seenSweep } from "../../writes/seen/seen-store.ts";

/** The stores that have one body for both databases. */
export interface SharedStores {
  readonly audit: AuditStore;
  readonly sessions: SessionStore;
  readonly nodeLogs: NodeLogStore;
  readonly oneTimeNonces: OneTimeNonceStore;
  readonly seen: SeenStore;
  readonly buckets: BucketStore;
}

export function createSharedStores(db: StateDb): SharedStores {
  return {
    audit: createAudit(db),
    sessions: createSessions(db),
    nodeLogs: createNodeLogs(db),
    oneTimeNonces: createOneTimeNonces(db),
    seen: createSeen(db),
    buckets: createBuckets(db),
  };
}

export function createSharedSweeps(db: StateDb): Sweep[] {
  return [auditSweep(db), sessionSweep(db), oneTimeNonceSweep(db), seenSweep(db), bucketSweep(db)];
}
