import type { ShareName } from "../admission/budgets.ts";
import type { SessionRule } from "./sessions/session-rule.ts";

/** A request that must be signed, and the operation name that its signature must contain. */
export interface SignedOperation {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path relative to `/v2/<service>`. */
  readonly path: string;
  readonly op: string;
  /**
   * Maximum size of the body in bytes; the limit of the path if omitted. A larger body is rejected with 413 before it
   * is read.
   */
  readonly maxBodyBytes?: number;
  /**
   * Which sessions may sign it: `read` for what shows no secret and changes nothing, `operate` for what can be undone or is only a try.
   * None if omitted: everything else needs custody.
   */
  readonly session?: SessionRule;
  /** What it counts as, by the address of its client. Default: a signed read or change, by its method. */
  readonly share?: ShareName;
}

/** For bodies that contain an id and a few numbers at most, or nothing. */
const idOnly = { maxBodyBytes: 4096 } as const;
/** For any session. */
const read = { session: { access: "read" } } as const;
/** For sessions that may operate. */
const operate = { session: { access: "operate" } } as const;
/** For sessions that may operate, if it does nothing but switch a webhook on or off. */
const operateSwitch = { session: { access: "operate", onlyFields: ["webhook_id", "active"] } } as const;

/**
 * Every signed request, by the operation id of its route. Routes are registered from this table, so that the name in
 * the signature always matches the route.
 */
export const signedOperations = {
  createApp: { method: "POST", path: "/frame/app", op: "app.create" },
  getApp: { method: "GET", path: "/frame/app", op: "app.read", ...idOnly, ...read },
  listApps: { method: "GET", path: "/frame/app/list", op: "app.read", ...idOnly, ...read },
  updateApp: { method: "PUT", path: "/frame/app", op: "app.update" },
  deleteApp: { method: "DELETE", path: "/frame/app", op: "app.delete", ...idOnly },
  rotateAppSecret: { method: "POST", path: "/frame/app/secret/rotate", op: "app.rotate_secret", ...idOnly },
  listAppTokens: { method: "GET", path: "/frame/app/tokens", op: "app.read", ...idOnly, ...read },
  listAppCampaigns: { method: "GET", path: "/frame/app/campaigns", op: "app.read", ...idOnly, ...read },
  getAppCampaign: { method: "GET", path: "/frame/app/campaign", op: "app.read", ...idOnly, ...read },
  getAppAudience: { method: "GET", path: "/frame/app/audience", op: "app.read", ...idOnly, ...read },
  sendCampaign: { method: "POST", path: "/frame/app/campaign", op: "app.send" },
  estimateSend: { method: "POST", path: "/frame/app/campaign/estimate", op: "app.read", ...read },
  createApiKey: { method: "POST", path: "/api_key", op: "api_key.create" },
  getApiKey: { method: "GET", path: "/api_key", op: "api_key.read", ...idOnly, ...read },
  listApiKeys: { method: "GET", path: "/api_key/list", op: "api_key.read", ...idOnly, ...read },
  getApiKeyUsage: { method: "GET", path: "/api_key/usage", op: "api_key.read", ...idOnly, ...read },
  updateApiKey: { method: "PUT", path: "/api_key", op: "api_key.update" },
  deleteApiKey: { method: "DELETE", path: "/api_key", op: "api_key.delete", ...idOnly },
  rotateApiKeySecret: {
    method: "POST",
    path: "/api_key/secret/rotate",
    op: "api_key.rotate_secret",
    ...idOnly,
  },
  createWebhook: { method: "POST", path: "/webhook", op: "webhook.create" },
  getWebhook: { method: "GET", path: "/webhook", op: "webhook.read", ...idOnly, ...read },
  listWebhooks: { method: "GET", path: "/webhook/list", op: "webhook.read", ...idOnly, ...read },
  updateWebhook: { method: "PUT", path: "/webhook", op: "webhook.update", ...operateSwitch },
  patchWebhook: { method: "PATCH", path: "/webhook", op: "webhook.update", ...operateSwitch },
  deleteWebhook: { method: "DELETE", path: "/webhook", op: "webhook.delete", ...idOnly },
  listWebhookDeliveries: {
    method: "GET",
    path: "/webhook/deliveries",
    op: "webhook.read",
    ...idOnly,
    ...read,
  },
  getWebhookDelivery: { method: "GET", path: "/webhook/delivery", op: "webhook.read", ...idOnly, ...read },
  getWebhookStats: { method: "GET", path: "/webhook/stats", op: "webhook.read", ...idOnly, ...read },
  previewWebhook: { method: "POST", path: "/webhook/preview", op: "webhook.read", ...read },
  replayWebhookDeliveries: {
    method: "POST",
    path: "/webhook/deliveries/replay",
    op: "webhook.update",
    ...idOnly,
    ...operate,
  },
  testWebhook: { method: "POST", path: "/webhook/test", op: "webhook.update", ...idOnly, ...operate },
  rotateWebhookSecret: {
    method: "POST",
    path: "/webhook/secret/rotate",
    op: "webhook.rotate_secret",
    ...idOnly,
  },
  getManagedSigner: { method: "GET", path: "/managed_signer", op: "signer.read", ...idOnly, ...read },
  listManagedSigners: { method: "GET", path: "/managed_signer/list", op: "signer.read", ...idOnly, ...read },
  importManagedSigner: { method: "POST", path: "/managed_signer/import", op: "signer.import", ...idOnly },
  exportManagedSigner: { method: "POST", path: "/managed_signer/export", op: "signer.export", ...idOnly },
  deleteManagedSigner: { method: "DELETE", path: "/managed_signer", op: "signer.delete", ...idOnly },
  createSession: { method: "POST", path: "/session", op: "session.create", ...idOnly, share: "newSessions" },
  listSessions: { method: "GET", path: "/session/list", op: "session.read", ...idOnly, ...read },
  deleteSession: {
    method: "DELETE",
    path: "/session",
    op: "session.delete",
    ...idOnly,
    session: { access: "read", onlyItself: true },
  },
  listAuditEntries: { method: "GET", path: "/audit", op: "audit.read", ...idOnly, ...read },
} as const satisfies Readonly<Record<string, SignedOperation>>;

export type SignedOperationId = keyof typeof signedOperations;
