import { apiKeys, apiKeyUsage } from "../../api-keys/api-key-store.ts";
import { apps } from "../../apps/app-store.ts";
import { auditEntries } from "../../audit/audit-store.ts";
import { nonces } from "../../auth/nonce-store.ts";
import { custodies } from "../../auth/owners/custody-store.ts";
import { incidents } from "../../checks/incident-store.ts";
import { cluster, leases, nodes } from "../../cluster/postgres/node-rows.ts";
import { switches } from "../../cluster/switch-store.ts";
import { decidedCalls } from "../../db/postgres/state-db.ts";
import { secrets } from "../../db/state/secrets.ts";
import { stateClock } from "../../db/state/state-clock.ts";
import { stateMove } from "../../db/state/state-move.ts";
import type { Table } from "../../db/state/table.ts";
import { nodeFigures } from "../../history/shared/node-figures.ts";
import { nodeLogs } from "../../ingest/hub-log/node-log-store.ts";
import { appBans, privateMutes, rulesVersions } from "../../moderation/moderation-store.ts";
import { noticeChannels, notices, vapidKeys } from "../../notices/store/tables.ts";
import { campaignDepartures } from "../../push/store/departures.ts";
import * as opens from "../../push/store/open-store.ts";
import { savedItems } from "../../push/store/saved-store.ts";
import { schedules, scheduleWaves } from "../../push/store/schedules/schedule-store.ts";
import * as push from "../../push/store/tables.ts";
import { sessions } from "../../sessions/session-store.ts";
import { nonceKey, oneTimeNonces } from "../../sign-in/nonce-store.ts";
import { oneTime } from "../../sign-in/one-time-store.ts";
import { signInKeys } from "../../sign-in/tokens/key-store.ts";
import { loginClients } from "../../signers/login/client-store.ts";
import { managedSigners } from "../../signers/store/signer-row.ts";
import { webhookReplays } from "../../webhooks/replay/replay-table.ts";
import * as deliveries from "../../webhooks/store/tables.ts";
import { webhooks } from "../../webhooks/store/webhook-store.ts";
import { rateBuckets } from "../../writes/store/bucket-store.ts";
import { seenNotifications } from "../../writes/store/seen-store.ts";
import * as writes from "../../writes/store/tables.ts";

/** Every table of the state. A table that is not listed is not created in any database. */
export const STATE_TABLES: readonly Table[] = [
  nonces,
  custodies,
  apps,
  apiKeys,
  apiKeyUsage,
  rateBuckets,
  webhooks,
  secrets,
  ...Object.values(deliveries),
  webhookReplays,
  ...Object.values(push),
  campaignDepartures,
  schedules,
  scheduleWaves,
  savedItems,
  opens.openLinks,
  opens.appOpens,
  opens.openCounts,
  opens.personZones,
  nodeFigures,
  nodeLogs,
  managedSigners,
  oneTimeNonces,
  nonceKey,
  signInKeys,
  oneTime,
  loginClients,
  sessions,
  auditEntries,
  ...Object.values(writes),
  seenNotifications,
  appBans,
  privateMutes,
  rulesVersions,
  switches,
  incidents,
  noticeChannels,
  notices,
  vapidKeys,
  stateClock,
  stateMove,
  nodes,
  cluster,
  leases,
  decidedCalls,
];
