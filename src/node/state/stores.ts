import { createApiKeys, usageSweep } from "../../api-keys/api-key-store.ts";
import { createApps } from "../../apps/app-store.ts";
import { auditSweep, createAudit } from "../../audit/audit-store.ts";
import { createNonces, nonceSweep } from "../../auth/nonce-store.ts";
import {
  type ActTimes,
  type CustodyStore,
  createCustodies,
  custodySweep,
} from "../../auth/owners/custody-store.ts";
import { createIncidents, incidentSweep } from "../../checks/incident-store.ts";
import { createOwnerFindings } from "../../checks/owners/owner-findings.ts";
import { createSwitches } from "../../cluster/switch-store.ts";
import { secretSweep } from "../../db/state/secrets.ts";
import type { StateDb, Sweep } from "../../db/state/state-db.ts";
import { createNodeFigures, nodeFigureSweep } from "../../history/shared/node-figures.ts";
import { createNodeLogs } from "../../ingest/hub-log/node-log-store.ts";
import { createModeration } from "../../moderation/moderation-store.ts";
import { createNoticeStore } from "../../notices/store/notice-store.ts";
import { type RunLimits, runLimitsOf } from "../../push/store/campaigns/campaign-store.ts";
import {
  campaignProgressSweep,
  campaignSweep,
  dedupeSweep,
} from "../../push/store/campaigns/campaign-sweeps.ts";
import { createCampaigns } from "../../push/store/campaigns/campaign-table.ts";
import { createLedger, LedgerWrites } from "../../push/store/campaigns/ledger-table.ts";
import { createOpens, zoneSweep } from "../../push/store/open-store.ts";
import { createSaved, savedSweep } from "../../push/store/saved-store.ts";
import { createSchedules, scheduleSweep } from "../../push/store/schedules/schedule-table.ts";
import {
  audienceClientSweep,
  audienceCohortSweep,
  audienceDaySweep,
} from "../../push/store/tokens/audience-counts.ts";
import { orphanedTokenSweep } from "../../push/store/tokens/orphaned-tokens.ts";
import { tokenChangeSweep } from "../../push/store/tokens/token-changes.ts";
import { createTokens } from "../../push/store/tokens/token-table.ts";
import { createSessions, sessionSweep } from "../../sessions/session-store.ts";
import { createSignInNonceStore, oneTimeNonceSweep } from "../../sign-in/nonce-store.ts";
import { createOneTime, oneTimeSweep } from "../../sign-in/one-time-store.ts";
import { createSignInKeys } from "../../sign-in/tokens/key-store.ts";
import { createLoginClients } from "../../signers/login/client-store.ts";
import { createSigners } from "../../signers/store/signer-table.ts";
import { createReplays, replaySweep } from "../../webhooks/replay/replay-store.ts";
import { attemptStatsSweep } from "../../webhooks/store/attempt-stats.ts";
import type { QueueLimits } from "../../webhooks/store/delivery-publications.ts";
import { deliverySweeps } from "../../webhooks/store/delivery-sweeps.ts";
import { createDeliveryLog } from "../../webhooks/store/log/logged-deliveries.ts";
import { createDeliveryQueue } from "../../webhooks/store/queue/shared-queue.ts";
import { createPublications } from "../../webhooks/store/queue-events.ts";
import { createDeactivation, webhookChangeSweep } from "../../webhooks/store/webhook-changes.ts";
import { createWebhooks } from "../../webhooks/store/webhook-store.ts";
import { bucketSweep, createBuckets } from "../../writes/store/bucket-store.ts";
import { createWrites, queuedWriteSweep } from "../../writes/store/queued-writes.ts";
import { createSeen, seenSweep } from "../../writes/store/seen-store.ts";
import { writeCallSweep } from "../../writes/store/write-calls.ts";
import { writeClockSweep } from "../../writes/store/write-clocks.ts";

/**
 * All stores of the state. Reads never wait for a writer. Writes fail with `StateUnavailable` if the database does not respond in time.
 */
export type AllStores = ReturnType<typeof createStores>;

export type StateStores = Omit<AllStores, "custodies"> & {
  /** Undefined if no other node shares the state: the index of the only one decides, also after an invented event was removed from it. */
  readonly custodies: CustodyStore | undefined;
};

/** The process that uses the stores. */
export interface StoresOptions {
  /** The boot of this process. */
  readonly bootId: string;
  readonly limits: QueueLimits;
  /** Undefined in a process that reads no acts. */
  readonly acts?: ActTimes | undefined;
  /** The run limits of this process. Default: those of a node that sends. */
  readonly runLimits?: RunLimits | undefined;
  /** The state over the connections for the ledger. Default: the same. */
  readonly ledgerDb?: StateDb;
}

export function createStores(db: StateDb, options: StoresOptions) {
  const { bootId, limits, runLimits = runLimitsOf({ send_concurrency: 1 }), ledgerDb = db } = options;
  const writes = new LedgerWrites();
  const deactivate = createDeactivation(db);
  return {
    nonces: createNonces(db),
    custodies: createCustodies(db, options.acts),
    apps: createApps(db),
    apiKeys: createApiKeys(db, bootId),
    webhooks: createWebhooks(db),
    tokens: createTokens(db),
    campaigns: createCampaigns(db, { bootId, runLimits, writes }),
    ledger: createLedger(ledgerDb, writes),
    schedules: createSchedules(db, runLimits),
    saved: createSaved(db),
    opens: createOpens(db),
    audit: createAudit(db),
    sessions: createSessions(db),
    nodeFigures: createNodeFigures(db),
    nodeLogs: createNodeLogs(db),
    signers: createSigners(db),
    signInNonces: createSignInNonceStore(db),
    signInKeys: createSignInKeys(db),
    oneTime: createOneTime(db),
    loginClients: createLoginClients(db),
    switches: createSwitches(db),
    incidents: createIncidents(db),
    ownerFindings: createOwnerFindings(db),
    notices: createNoticeStore(db),
    seen: createSeen(db),
    moderation: createModeration(db),
    buckets: createBuckets(db),
    publications: createPublications(db, { bootId, limits, deactivate }),
    queue: createDeliveryQueue(db, deactivate),
    deliveryLog: createDeliveryLog(db, limits),
    replays: createReplays(db, limits),
    writes: createWrites(db),
  };
}

export function createSweeps(db: StateDb): Sweep[] {
  return [
    nonceSweep(db),
    custodySweep(db),
    secretSweep(db),
    usageSweep(db),
    webhookChangeSweep(db),
    tokenChangeSweep(db),
    orphanedTokenSweep(db),
    audienceDaySweep(db),
    audienceClientSweep(db),
    audienceCohortSweep(db),
    dedupeSweep(db),
    campaignProgressSweep(db),
    campaignSweep(db),
    scheduleSweep(db),
    savedSweep(db),
    zoneSweep(db),
    nodeFigureSweep(db),
    auditSweep(db),
    sessionSweep(db),
    oneTimeNonceSweep(db),
    oneTimeSweep(db),
    seenSweep(db),
    bucketSweep(db),
    ...deliverySweeps(db),
    replaySweep(db),
    attemptStatsSweep(db),
    writeCallSweep(db),
    queuedWriteSweep(db),
    writeClockSweep(db),
    incidentSweep(db),
  ];
}
