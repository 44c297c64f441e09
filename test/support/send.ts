import type { App } from "../../src/apps/app-store.ts";
import type { StateDatabase } from "../../src/db/state/database.ts";
import type { FanOutTimings } from "../../src/node/compose/sending/fan-out.ts";
import type { TestApiOptions } from "./api.ts";
import { loopbackClient } from "./loopback-client.ts";
import { expectMatchesOpenApi } from "./openapi.ts";
import { type ApiResponse, type SignedApi, startSignedApi } from "./signed-api.ts";
import { localStores } from "./state-stores.ts";

export const APP_ID = "testApp111111111";
export const SECRET = "5".repeat(64);

/** A token row of the test's app. */
export interface TokenSpec {
  readonly fid: number;
  readonly clientFid?: number;
  readonly url: string;
  readonly token: string;
  readonly appId?: string;
  readonly enabled?: boolean;
}

export interface SendBody {
  readonly notification?: object;
  readonly [key: string]: unknown;
}

/** The API with an app that sends notifications. */
export interface SendApi extends AsyncDisposable {
  readonly signed: SignedApi;
  readonly state: StateDatabase;
  addTokens(tokens: readonly TokenSpec[]): void;
  /** Sends; fails when the response does not match the OpenAPI document. */
  send(
    body?: SendBody | string,
    options?: {
      readonly key?: string | null;
      readonly appId?: string;
      readonly headers?: Record<string, string>;
    },
  ): Promise<ApiResponse & { readonly headers: Headers }>;
  campaign(campaignId: string): Promise<ApiResponse["body"]>;
  /** Deletes all tokens and campaigns. */
  reset(): void;
  /** Returns the remaining tokens, in the order of their fids. */
  tokens(): string[];
}

/** Fast enough for tests. A call that a busy machine delays is not repeated; tests of silent clients set a shorter timeout. */
export const testTimings: FanOutTimings = {
  timeoutMs: 10_000,
  backoffMs: 10,
  hosts: { failuresUntilDown: 3, firstProbeMs: 50, maxProbeMs: 200, giveUpAfterMs: 500 },
  rerunAfterMs: 0,
};

export const notification = {
  title: "Your move",
  body: "Mira took your rook.",
  target_url: "https://app.example/game/7",
};

export function testApp(input: Partial<App> = {}): App {
  return {
    appId: APP_ID,
    ownerFid: 3,
    name: "App",
    appUrl: "https://app.example",
    description: null,
    signerFidAllowlist: [],
    secrets: [{ uid: crypto.randomUUID(), value: SECRET, createdAt: 1, expiresAt: null }],
    createdAt: 1,
    updatedAt: 1,
    ...input,
  };
}

/** Inserts token rows directly, without the limit of events, and counts them for their apps. */
export function insertTokens(state: StateDatabase, tokens: readonly TokenSpec[]): void {
  const insert = state.sqlite.query(
    `INSERT INTO tokens (app_id, fid, client_fid, url, host, token, enabled, last_event, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, 'miniapp_added', 1, 1)`,
  );
  state.transaction(() => {
    state.sqlite.exec("DELETE FROM audience_clients");
    for (const { appId = APP_ID, fid, clientFid = 9152, url, token, enabled = true } of tokens) {
      insert.run(appId, fid, clientFid, url, new URL(url).host, token, enabled ? 1 : 0);
    }
    state.sqlite.exec(
      `INSERT INTO audience_clients SELECT app_id, client_fid, coalesce(host, ''), CASE WHEN token IS NULL THEN 'no_token'
         WHEN enabled = 1 THEN 'enabled' ELSE 'disabled' END, count(*) FROM tokens GROUP BY 1, 2, 3, 4`,
    );
  });
}

export async function startSendApi(options: TestApiOptions = {}): Promise<SendApi> {
  const signed = await startSignedApi({
    client: loopbackClient(),
    ...options,
    timings: { ...testTimings, ...options.timings },
  });
  const { api } = signed;
  const { state } = api;
  await localStores(state).apps.create(testApp(), 10);
  return {
    signed,
    state,
    addTokens: (tokens) => insertTokens(state, tokens),
    async send(body = {}, { key = SECRET, appId = APP_ID, headers = {} } = {}) {
      const response = await fetch(`${api.url}/v2/svc/frame/notifications/${appId}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(key === null ? {} : { "x-api-key": key }),
          ...headers,
        },
        body: typeof body === "string" ? body : JSON.stringify({ notification, ...body }),
      });
      const result = { status: response.status, body: await response.json(), headers: response.headers };
      const route = "/v2/svc/frame/notifications/{app_id}";
      expectMatchesOpenApi(api.document, "POST", route, result.status, result.body);
      return result;
    },
    async campaign(campaignId) {
      const path = `/frame/app/campaign?campaign_id=${campaignId}`;
      return (await signed.call({ method: "GET", path })).body.campaign;
    },
    reset() {
      const tables = ["tokens", "campaigns", "campaign_counts", "campaign_failures", "campaign_retryable"];
      for (const table of [...tables, "dedupe", "dedupe_keys"]) state.sqlite.run(`DELETE FROM ${table}`);
    },
    tokens: () =>
      state.sqlite
        .query<{ token: string }, []>("SELECT token FROM tokens ORDER BY fid, client_fid")
        .all()
        .map(({ token }) => token),
    [Symbol.asyncDispose]: () => signed[Symbol.asyncDispose](),
  };
}
