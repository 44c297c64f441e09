import { isBeyond, linesOf } from "../../../../src/checks/check.ts";
import { createEvaluator } from "../../../../src/checks/evaluator.ts";
import type { CheckFigures } from "../../../../src/checks/figures.ts";
import { CHECK_TABLE } from "../../../../src/checks/table.ts";
import { applyValues, type SettingValues } from "../../../../src/config/settings/live-values.ts";
import type { BackupsReport } from "../../../../src/console/operator/reports.ts";
import { demoKeys } from "../../../../src/demo/keys.ts";
import { configWith } from "../../../runtime/config.ts";
import { newSessionKey } from "../../../support/sessions.ts";
import { type Method, signedHeaders } from "../../../support/signing.ts";

/** What shows that a changed setting is in force: other than before. */
export interface Observation {
  readonly value: unknown;
  /** Others that are changed first, because it counts with them only. */
  readonly among?: SettingValues;
  /** What the node does, or says of what it does. */
  readonly sees: () => unknown;
  readonly is: unknown;
  /** What it is before; default: anything else. */
  readonly was?: unknown;
}

export interface Observed {
  readonly url: string;
  /** A read of the operator's page. */
  read<T>(what: string): Promise<T>;
  readonly backups: string;
  /** Two stores of backups, for whose credentials the node has settings. */
  readonly buckets: readonly [Bucket, Bucket];
  logs(): string;
}

export interface Bucket {
  readonly url: string;
  /** The requests so far, as `PUT /bucket/key?query`. */
  readonly requests: readonly string[];
  /** That of the last request. */
  readonly authorization: () => string;
}

const OWNER = 5;
const USER = "/v2/svc/user?fid=3";
/** The native dialect takes no API keys. */
const KEYED = "/v2/farcaster/user/bulk?fids=3";
const GRACE_SECS = 7_777;

/** How each setting of the page that takes effect at once is seen to be in force, on a demo node. */
export function nowSettings({
  url,
  read,
  backups,
  buckets,
  logs,
}: Observed): Readonly<Record<string, Observation>> {
  const fetchOnce = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, { headers: { ...headers, connection: "close" } });
  const header =
    (name: string, path = USER, headers: Record<string, string> = {}) =>
    async () =>
      (await fetchOnce(path, headers)).headers.get(name);
  // biome-ignore lint/suspicious/noExplicitAny: responses of every shape
  type Json = any;
  const owner = async (
    method: Method,
    path: string,
    body?: object,
  ): Promise<{ status: number; body: Json }> => {
    const keys = demoKeys(OWNER);
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = await signedHeaders({
      ...{ method, path, fid: OWNER, signedAt: Math.floor(Date.now() / 1000) },
      ...text,
      wallet: {
        privateKey: Buffer.from(keys?.custody.privateKey.slice(2) ?? "", "hex"),
        address: new Uint8Array(20),
      },
    });
    const response = await fetch(`${url}/v2/svc${path}`, { method, headers, ...text });
    return { status: response.status, body: await response.json() };
  };
  const nowSecs = () => Math.floor(Date.now() / 1000);
  const app = async () => await owner("POST", "/frame/app", { name: "Bread", app_url: "https://127.0.0.1" });
  const hook = () =>
    owner("POST", `/webhook?owner_fid=${OWNER}`, {
      name: "Hook",
      url: "https://127.0.0.1/hook",
      subscription: { "cast.created": {} },
    });
  const apiKey = () => owner("POST", "/api_key", { name: "key", scopes: ["read"] });
  let webhookId = "";
  /** One webhook as the node reports it now. */
  const hookNow = async () => {
    webhookId ||= (await hook()).body.webhook.webhook_id;
    return (await owner("GET", `/webhook?webhook_id=${webhookId}`)).body.webhook;
  };
  let keyId = "";
  const keyNow = async () => {
    keyId ||= (await apiKey()).body.api_key.api_key_id;
    return (await owner("GET", `/api_key?api_key_id=${keyId}`)).body.api_key;
  };
  /** Calls a write of the hosted API's dialect by a key of the owner, who has imported a signer of theirs. */
  let writer: { readonly key: string; readonly signer_uuid: string } | undefined;
  const writeBy = async (path: string, fields: object) => {
    if (!writer) {
      const scopes = ["write", "signers"];
      const { secret } = (await owner("POST", "/api_key", { name: "writer", scopes })).body;
      const [signer] = demoKeys(OWNER)?.signers ?? [];
      const imported = { private_key: signer?.privateKey, fid: OWNER };
      const { signer_uuid } = (await owner("POST", "/managed_signer/import", imported)).body.signer;
      writer = { key: secret, signer_uuid };
    }
    const { key, signer_uuid } = writer;
    return fetch(`${url}/v2/farcaster${path}`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ signer_uuid, ...fields }),
    });
  };
  let casts = 0;
  let moderator: string | undefined;
  /** Mutes someone under a key that may moderate and not write. */
  const mute = async () => {
    moderator ??= (await owner("POST", "/api_key", { name: "moderator", scopes: ["moderate"] })).body.secret;
    return fetch(`${url}/v2/farcaster/mute`, {
      method: "POST",
      headers: { "x-api-key": moderator ?? "", "content-type": "application/json" },
      body: JSON.stringify({ fid: OWNER, muted_fid: 9 }),
    });
  };
  const [here, there] = buckets;
  const inBucket = { "backup.endpoint": here.url, "backup.url": "s3://bucket/here" };
  /** Whether the list of backups was asked for at a store. */
  const isAsked = async ({ requests }: Bucket, prefix: string) => {
    const before = requests.length;
    await report();
    return requests.slice(before).some((request) => request.includes(`prefix=${encodeURIComponent(prefix)}`));
  };
  /** Whether an old secret lasts as long as the setting says. */
  const lastsGrace = (secrets: readonly { readonly expires_at: string | number | null }[]) =>
    secrets.some(({ expires_at: at }) => {
      const secs = typeof at === "string" ? Date.parse(at) / 1000 : (at ?? 0);
      return Math.abs(secs - nowSecs() - GRACE_SECS) < 60;
    });
  const pageSettings = async () => {
    const text = await (await fetchOnce("/console", { accept: "text/html" })).text();
    const found = /&quot;webhookAttempts&quot;:(\d+).*?&quot;webhookRetryMs&quot;:(\d+)/.exec(text);
    return { attempts: Number(found?.[1]), retryMs: Number(found?.[2]), text };
  };
  const status = async (): Promise<Json> => (await fetchOnce("/status")).json();
  const debugLines = () => logs().split('"level":"debug"').length;
  const debugLinesAtFirst = debugLines();
  const report = () => read<BackupsReport>("backups");
  const leftOf = (text: string | null) => Number(/r=(\d+)/.exec(text ?? "")?.[1]);

  const capped = (make: () => Promise<{ status: number }>): Observation => ({
    value: 0,
    sees: async () => (await make()).status,
    is: 429,
    was: 200,
  });
  /** A check of the node, evaluated with settings that change under it. */
  const threshold = (key: string, value: number): Observation => {
    const config = structuredClone(configWith());
    const row = CHECK_TABLE.find((check) => {
      const changed = { ...config.checks, [key.replace("checks.", "")]: value };
      return check.value && !Bun.deepEquals(linesOf(check, config.checks), linesOf(check, changed));
    });
    if (!row) throw new Error(`no check has a line of ${key}`);
    const [before, after] = [config.checks, { ...config.checks, [key.replace("checks.", "")]: value }].map(
      (thresholds) => Object.values(linesOf(row, thresholds).opens)[0] as number,
    ) as [number, number];
    const between = (before + after) / 2;
    let isChanged = false;
    return {
      value,
      sees: () => {
        if (isChanged) applyValues(config, { [key]: value });
        isChanged = true;
        const evaluator = createEvaluator([{ ...row, openForSecs: 0, value: () => between }], config.checks);
        return evaluator.evaluate({ nowSecs: 1 } as CheckFigures)[0]?.standing;
      },
      is: isBeyond(between, linesOf(row, { ...config.checks, [key.replace("checks.", "")]: value }).opens)
        ? "open"
        : "ok",
    };
  };

  return {
    "http.cors_origins": {
      value: ["https://app.example"],
      sees: header("access-control-allow-origin", USER, { origin: "https://other.example" }),
      is: null,
    },
    "http.anonymous": { value: false, sees: async () => (await fetchOnce(USER)).status, is: 401 },
    "http.anonymous_units_per_minute": {
      value: 5_000,
      sees: header("ratelimit-policy"),
      is: '"anonymous";q=5000;w=60',
    },
    "http.anonymous_burst_units": {
      value: 60_000,
      among: { "http.anonymous_units_per_minute": 5_000 },
      sees: async () => leftOf(await header("ratelimit")()) > 30_000,
      is: true,
    },
    "auth.session_ttl_secs": {
      value: 600,
      sees: async () => {
        const { session } = (await owner("POST", "/session", newSessionKey().body)).body;
        return session.expires_at - session.created_at;
      },
      is: 600,
    },
    "apps.max_apps_per_owner": capped(app),
    "apps.secret_grace_period_secs": {
      value: GRACE_SECS,
      sees: async () => {
        const { app_id: id } = (await app()).body.app;
        return lastsGrace(
          (await owner("POST", `/frame/app/secret/rotate?app_id=${id}`)).body.app.send_secrets,
        );
      },
      is: true,
    },
    "api_keys.max_keys_per_owner": capped(apiKey),
    "api_keys.secret_grace_period_secs": {
      value: GRACE_SECS,
      sees: async () => {
        const { api_key_id: id } = (await apiKey()).body.api_key;
        return lastsGrace(
          (await owner("POST", "/api_key/secret/rotate", { api_key_id: id })).body.api_key.secrets,
        );
      },
      is: true,
    },
    "api_keys.units_per_minute": {
      value: 1_234,
      sees: async () => (await keyNow()).units_per_minute,
      is: 1_234,
    },
    "api_keys.writes_per_minute": {
      value: 3,
      sees: async () => (await keyNow()).writes_per_minute,
      is: 3,
    },
    "api_keys.burst_units": {
      value: 50,
      sees: async () => {
        const { secret } = (await apiKey()).body;
        return leftOf(await header("ratelimit", KEYED, { "x-api-key": secret })()) <= 50;
      },
      is: true,
    },
    "webhooks.max_webhooks_per_owner": capped(hook),
    "webhooks.secret_grace_period_secs": {
      value: GRACE_SECS,
      sees: async () => {
        const { webhook_id: id } = (await hook()).body.webhook;
        return lastsGrace(
          (await owner("POST", `/webhook/secret/rotate?webhook_id=${id}`)).body.webhook.secrets,
        );
      },
      is: true,
    },
    "webhooks.delivery_timeout_secs": {
      value: 7,
      sees: async () => (await hookNow()).http_timeout,
      is: 7,
    },
    "webhooks.rate_limit": { value: 77, sees: async () => (await hookNow()).rate_limit, is: 77 },
    "webhooks.rate_limit_duration_secs": {
      value: 33,
      sees: async () => (await hookNow()).rate_limit_duration,
      is: 33,
    },
    "webhooks.retry_max_attempts": {
      value: 2,
      sees: async () => (await pageSettings()).attempts,
      is: 2,
    },
    "webhooks.retry_initial_backoff_ms": {
      value: 3_600_000,
      sees: async () => (await pageSettings()).retryMs >= 60_000,
      is: true,
    },
    "stream.max_connections": { value: 7, sees: async () => (await status()).stream.max_connections, is: 7 },
    "stream.max_connections_per_ip": {
      value: 1,
      sees: async () => {
        const controller = new AbortController();
        const open = () => fetch(`${url}/v2/svc/stream`, { signal: controller.signal });
        const statuses = [(await open()).status, (await open()).status];
        controller.abort();
        return statuses;
      },
      is: [200, 429],
    },
    "backup.dir": { value: backups, sees: async () => (await report()).unavailable, is: null },
    "backup.at": {
      value: "03:15",
      among: { "backup.dir": backups },
      sees: async () => typeof (await report()).next_at,
      is: "number",
    },
    "backup.url": {
      value: "s3://bucket/elsewhere",
      among: inBucket,
      sees: () => isAsked(here, "elsewhere/"),
      is: true,
      was: false,
    },
    "backup.endpoint": {
      value: there.url,
      among: inBucket,
      sees: () => isAsked(there, "here/"),
      is: true,
      was: false,
    },
    "backup.region": {
      value: "eu-central-1",
      among: inBucket,
      sees: async () => {
        await report();
        return /\/([\w-]+)\/s3\//.exec(here.authorization())?.[1];
      },
      is: "eu-central-1",
      was: "us-east-1",
    },
    "writes.fid_messages_per_hour": {
      value: 777,
      sees: async () => {
        casts += 1;
        const response = await writeBy("/cast", { text: `cast ${casts}` });
        return /"fid";q=(\d+)/.exec(response.headers.get("ratelimit-policy") ?? "")?.[1];
      },
      is: "777",
    },
    "writes.mute_links": {
      value: true,
      sees: async () => (await mute()).status,
      is: 403,
      was: 200,
    },
    "backup.keep": { value: 3, sees: async () => (await report()).keep, is: 3 },
    "console.images": {
      value: "off",
      sees: async () => (await pageSettings()).text.includes("&quot;images&quot;:&quot;off&quot;"),
      is: true,
    },
    "history.max_bytes": {
      value: 9_000_000,
      sees: async () => (await status()).history.max_bytes,
      is: 9_000_000,
    },
    "checks.off": {
      value: ["disk_fills_up"],
      sees: async () =>
        (await (await fetchOnce("/metrics")).text()).includes('svc_check_open{check="disk_fills_up"}'),
      is: false,
    },
    "checks.index_behind_secs": threshold("checks.index_behind_secs", 600),
    "checks.disk_free_bytes": threshold("checks.disk_free_bytes", 5e12),
    "checks.index_percent": threshold("checks.index_percent", 50),
    "checks.error_percent": threshold("checks.error_percent", 50),
    "checks.latency_ms": threshold("checks.latency_ms", 10),
    "checks.queue_age_secs": threshold("checks.queue_age_secs", 60),
    "notify.push_hosts": {
      value: [],
      sees: async () => (await read<{ push: boolean }>("notices")).push,
      is: false,
    },
    "notify.max_channels_per_owner": capped(() =>
      owner("POST", "/notice_channel", { label: "pager", hook: { url: "https://127.0.0.1/page" } }),
    ),
    "log.level": {
      value: "trace",
      sees: async () => {
        const before = debugLines();
        await fetchOnce(USER);
        return debugLines() > before || debugLines() > debugLinesAtFirst;
      },
      is: true,
    },
  };
}

/** Settings that are seen in the part that has them, by `test/console/operator/now-settings-in-parts.test.ts`: they count after hours, or towards others. */
export const SEEN_IN_PARTS: readonly string[] = [
  "backup.index",
  "history.log_days",
  "notify.contact",
  "send.dedupe_ttl_secs",
  "send.send_timeout_secs",
  "stream.retention_hours",
  "trending.window_hours",
  "writes.confirm_timeout_ms",
  "writes.max_queued",
];
