import type { ApiKeyStore } from "../../api-keys/api-key-store.ts";
import { createApiKeys } from "../../api-keys/api-key-table.ts";
import { usageSweep } from "../../api-keys/usage.ts";
import { type AppStore, createApps } from "../../apps/app-store.ts";
import { type AuditStore, auditSweep, createAudit } from "../../audit/audit-store.ts";
import { createNonces, type NonceStore, nonceSweep } from "../../auth/nonce-store.ts";
import { createSwitches, type SwitchStore } from "../../cluster/switch-store.ts";
import { secretSweep } from "../../db/state/secrets.ts";
import type { StateDb } from "../../db/state/state-db.ts";
import type { Sweep } from "../../db/state/sweep.ts";
import { createNodeLogs, type NodeLogStore } from "../../ingest/hub-log/node-log-store.ts";
import { createSessions, type SessionStore, sessionSweep } from "../../sessions/session-store.ts";
import {
  createOneTimeNonces,
  type OneTimeNonceStore,
  oneTimeNonceSweep,
} from "../../signers/one-time-nonces.ts";
import type { SignerStore } from "../../signers/signer-store.ts";
import { createSigners } from "../../signers/signer-table.ts";
import { webhookChangeSweep } from "../../webhooks/store/webhook-changes.ts";
import type { WebhookStore } from "../../webhooks/store/webhook-store.ts";
import { createWebhooks } from "../../webhooks/store/webhook-table.ts";
import { type BucketStore, bucketSweep, createBuckets } from "../../writes/limits/bucket-store.ts";
import { createSeen, type SeenStore, seenSweep } from "../../writes/seen/seen-store.ts";

/** The stores that have one body for both databases. */
export interface SharedStores {
  readonly nonces: NonceStore;
  readonly apps: AppStore;
  readonly apiKeys: ApiKeyStore;
  readonly webhooks: WebhookStore;
  readonly audit: AuditStore;
  readonly sessions: SessionStore;
  readonly nodeLogs: NodeLogStore;
  readonly signers: SignerStore;
  readonly oneTimeNonces: OneTimeNonceStore;
  readonly switches: SwitchStore;
  readonly seen: SeenStore;
  readonly buckets: BucketStore;
}

/** @param bootId of this process. */
export function createSharedStores(db: StateDb, bootId: string): SharedStores {
  return {
    nonces: createNonces(db),
    apps: createApps(db),
    apiKeys: createApiKeys(db, bootId),
    webhooks: createWebhooks(db),
    audit: createAudit(db),
    sessions: createSessions(db),
    nodeLogs: createNodeLogs(db),
    signers: createSigners(db),
    oneTimeNonces: createOneTimeNonces(db),
    switches: createSwitches(db),
    seen: createSeen(db),
    buckets: createBuckets(db),
  };
}

export function createSharedSweeps(db: StateDb): Sweep[] {
  return [
    nonceSweep(db),
    secretSweep(db),
    usageSweep(db),
    webhookChangeSweep(db),
    auditSweep(db),
    sessionSweep(db),
    oneTimeNonceSweep(db),
    seenSweep(db),
    bucketSweep(db),
  ];
}
