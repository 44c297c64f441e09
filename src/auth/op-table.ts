/** One request that must be signed, and the name that the signature must give it. */
export interface SignedOperation {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Within `/v2/<service>`. */
  readonly path: string;
  readonly op: string;
}

/**
 * Every signed request, by the operation id of its route. Routes are registered from here, so that none is signed under
 * another name than the one it answers to.
 */
export const signedOperations = {
  createApp: { method: "POST", path: "/frame/app", op: "app.create" },
  getApp: { method: "GET", path: "/frame/app", op: "app.read" },
  listApps: { method: "GET", path: "/frame/app/list", op: "app.read" },
  updateApp: { method: "PUT", path: "/frame/app", op: "app.update" },
  deleteApp: { method: "DELETE", path: "/frame/app", op: "app.delete" },
  rotateAppSecret: { method: "POST", path: "/frame/app/secret/rotate", op: "app.rotate_secret" },
  listAppTokens: { method: "GET", path: "/frame/app/tokens", op: "app.read" },
  listAppCampaigns: { method: "GET", path: "/frame/app/campaigns", op: "app.read" },
  getAppCampaign: { method: "GET", path: "/frame/app/campaign", op: "app.read" },
  createWebhook: { method: "POST", path: "/webhook", op: "webhook.create" },
  getWebhook: { method: "GET", path: "/webhook", op: "webhook.read" },
  listWebhooks: { method: "GET", path: "/webhook/list", op: "webhook.read" },
  updateWebhook: { method: "PUT", path: "/webhook", op: "webhook.update" },
  patchWebhook: { method: "PATCH", path: "/webhook", op: "webhook.update" },
  deleteWebhook: { method: "DELETE", path: "/webhook", op: "webhook.delete" },
  listWebhookDeliveries: { method: "GET", path: "/webhook/deliveries", op: "webhook.read" },
  replayWebhookDeliveries: { method: "POST", path: "/webhook/deliveries/replay", op: "webhook.update" },
  testWebhook: { method: "POST", path: "/webhook/test", op: "webhook.update" },
  rotateWebhookSecret: { method: "POST", path: "/webhook/secret/rotate", op: "webhook.rotate_secret" },
} as const satisfies Readonly<Record<string, SignedOperation>>;

export type SignedOperationId = keyof typeof signedOperations;
