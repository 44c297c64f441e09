import type { TokenState } from "../../src/push/store/tokens/token-store.ts";
import type { TestApiOptions } from "./api.ts";
import { clientKey, keyAddedEvent, officialEnvelope, type TestEnvelope } from "./envelopes.ts";
import { registerEvent } from "./events.ts";
import { expectMatchesOpenApi } from "./openapi.ts";
import { type ApiResponse, type SignedApi, startSignedApi } from "./signed-api.ts";
import { custodyWallet } from "./signing.ts";

/** Two client apps; the user 5 has a key with each, the users 6 and 7 with the first. */
export const CLIENT_A = 9152;
export const CLIENT_B = 309857;
export const USER = 5;

/** The API with an app of the fid 3 and users whose clients sign. */
export interface PushApi extends AsyncDisposable {
  readonly signed: SignedApi;
  readonly appId: string;
  createApp(fields?: object): Promise<string>;
  /** Sends a body to the token webhook. Fails when the response does not match the OpenAPI document. */
  post(body: unknown, appId?: string): Promise<ApiResponse & { readonly headers: Headers }>;
  /** Reports an event by an envelope of the reference library. Returns the status. */
  report(event: object, from?: { fid?: number; clientFid?: number; appId?: string }): Promise<number>;
  /** Returns the token rows of the database, by app, fid and client. */
  rows(): TokenRowShown[];
  /** Returns all state that the token webhook could change. */
  everything(): Readonly<Record<string, unknown>>;
  totals(): Record<TokenState, number>;
  /** Makes it as good as a new one: no tokens, and another app. False if a test has changed the index or the clock. */
  renew(): Promise<boolean>;
}

export interface TokenRowShown {
  readonly app_id: string;
  readonly fid: number;
  readonly client_fid: number;
  readonly url: string | null;
  readonly host: string | null;
  readonly token: string | null;
  readonly enabled: number;
  readonly last_event: string;
  readonly created_at: number;
  readonly updated_at: number;
}

export async function startPushApi(options: TestApiOptions = {}): Promise<PushApi> {
  const signed = await startSignedApi(options);
  const { api } = signed;
  const { node, state } = api;
  const clients = [
    [USER, CLIENT_A],
    [USER, CLIENT_B],
    [6, CLIENT_A],
    [7, CLIENT_A],
  ] as const;
  for (const fid of [USER, 6, 7]) {
    node.ingestEvent(registerEvent(fid, custodyWallet(fid).address, { block: 2000 + fid }));
  }
  for (const [at, [fid, clientFid]] of clients.entries()) {
    const key = clientKey(fid, clientFid).publicKey;
    node.ingestEvent(keyAddedEvent(fid, key, { block: 3000 + at }, { requestFid: clientFid }));
  }
  const createApp = async (fields: object = {}) => {
    const body = { name: "App", app_url: "https://app.example", ...fields };
    return (await signed.call({ method: "POST", path: "/frame/app", body })).body.app.app_id as string;
  };
  let appId = await createApp();
  const changesOfIndex = () =>
    node.db.sqlite.query<{ n: number }, []>("SELECT total_changes() AS n").get()?.n;
  const unchanged = { index: changesOfIndex(), nowMs: node.clock.nowMs() };
  const all = (table: string) => state.sqlite.query(`SELECT * FROM ${table} ORDER BY 1, 2, 3`).all();

  async function post(body: unknown, app = appId) {
    const init = { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) };
    const response = await fetch(`${api.url}/v2/svc/frame/webhook/${app}`, init);
    const result = { status: response.status, body: await response.json(), headers: response.headers };
    const route = "/v2/svc/frame/webhook/{app_id}";
    expectMatchesOpenApi(api.document, "POST", route, result.status, result.body);
    return result;
  }

  return {
    signed,
    get appId() {
      return appId;
    },
    createApp,
    post,
    async report(event, { fid = USER, clientFid = CLIENT_A, appId: app } = {}) {
      const envelope: TestEnvelope = officialEnvelope(fid, clientKey(fid, clientFid), event);
      return (await post(envelope, app)).status;
    },
    rows: () => all("tokens") as TokenRowShown[],
    everything: () => ({
      tokens: all("tokens"),
      totals: state.sqlite.query("SELECT * FROM token_totals ORDER BY 1").all(),
      changes: all("token_changes"),
      rows: signed.rowCounts(),
    }),
    totals() {
      const count = (where: string) =>
        state.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM tokens WHERE ${where}`).get()?.n ??
        -1;
      return {
        enabled: count("enabled = 1"),
        disabled: count("enabled = 0 AND token IS NOT NULL"),
        no_token: count("token IS NULL"),
      };
    },
    async renew() {
      if (changesOfIndex() !== unchanged.index || node.clock.nowMs() !== unchanged.nowMs) return false;
      for (const table of ["tokens", "token_totals", "token_changes"])
        state.sqlite.exec(`DELETE FROM ${table}`);
      appId = await createApp();
      return true;
    },
    [Symbol.asyncDispose]: () => signed[Symbol.asyncDispose](),
  };
}

/** Notification details with a distinct token. */
export function details(token: string, url = "https://client.example/notify") {
  return { url, token };
}
