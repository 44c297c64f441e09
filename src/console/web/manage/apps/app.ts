import { get } from "../../data/call.ts";
import { apiPrefix, nodeOrigin } from "../../page-config.ts";

/** A mini app of the native dialect. Times are unix seconds. */
export interface App {
  readonly app_id: string;
  readonly owner_fid: number;
  readonly name: string;
  readonly app_url: string;
  readonly description: string | null;
  readonly signer_fid_allowlist: readonly number[];
  readonly send_secrets: readonly SendSecret[];
  readonly created_at: number;
  readonly updated_at: number;
}

/** `value` is null in answers to a session. */
export interface SendSecret {
  readonly uid: string;
  readonly value: string | null;
  readonly expires_at: number | null;
  readonly created_at: number;
}

/** The tokens of an app. */
export interface Audience {
  readonly total: number;
  readonly clients: readonly AudienceClient[];
  readonly client_count: number;
  readonly days: readonly AudienceDay[];
}

export interface AudienceClient {
  readonly client_fid: number;
  /** Null for users without a token. */
  readonly host: string | null;
  readonly enabled: number;
  readonly disabled: number;
  readonly without_token: number;
}

export interface AudienceDay {
  /** UTC, as 2026-11-22. */
  readonly day: string;
  readonly enabled: number;
  readonly added: number;
  readonly removed: number;
  readonly disabled: number;
  readonly invalidated: number;
}

export const APPS_PATH = "/console/manage/apps";

export const appPath = (appId: string, tab?: string) =>
  `${APPS_PATH}/${appId}${tab === undefined ? "" : `?tab=${tab}`}`;

export const listCall = { ...get("/frame/app/list"), op: "app.read", cli: "app list" } as const;

export const appCall = (appId: string) => ({
  ...get("/frame/app", { app_id: appId }),
  op: "app.read",
  cli: `app get ${appId}`,
});

export const audienceCall = (appId: string, days: number) => ({
  ...get("/frame/app/audience", { app_id: appId, days }),
  op: "app.read",
  cli: `app audience ${appId} --days ${days}`,
});

/** The URL at which client apps report who added the app. */
export const tokenWebhookUrl = (appId: string) => `${nodeOrigin}${apiPrefix}/frame/webhook/${appId}`;
