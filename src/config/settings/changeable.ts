import type { Setting } from "./settings.ts";

/**
 * When a change from the operator's page takes effect: at once in all threads, or at the next start. `file`: the page cannot change it,
 * because it is a secret, decides who is trusted or where data is, or applies to all nodes of a state.
 */
export type SettingApply = "now" | "start" | "file";

/** By key, or with `*` for all keys of a section that are not listed. */
const APPLY: Readonly<Record<string, SettingApply>> = {
  "log.level": "now",
  "http.anonymous": "now",
  "http.anonymous_units_per_minute": "now",
  "http.anonymous_burst_units": "now",
  "http.cors_origins": "now",
  "api_keys.*": "now",
  "apps.*": "now",
  "webhooks.*": "now",
  "webhooks.delivery_concurrency": "start",
  "send.*": "now",
  "send.send_concurrency": "start",
  "stream.*": "now",
  "stream.enabled": "start",
  "writes.*": "now",
  "writes.enabled": "start",
  "backup.*": "now",
  "trending.*": "now",
  "checks.*": "now",
  "history.*": "now",
  "history.enabled": "start",
  "notify.*": "now",
  "console.images": "now",
  "auth.session_ttl_secs": "now",
  "notifications.*": "start",
  "feeds.*": "start",
  "http.host": "start",
  "http.port": "start",
  "http.workers": "start",
  // Part of the API document, which a node creates once.
  "http.max_ids": "start",
  "hub.*": "start",
  "hub.admin": "file",
  "index.*": "start",
  "service.public_url": "start",
  "signers.enabled": "start",
  "upstream.*": "start",
  "upstream.username": "file",
  "upstream.password": "file",
};

/** Values with a login or a path are refused, so these URLs contain no secrets. */
const PUBLIC_URLS: ReadonlySet<string> = new Set(["upstream.url", "upstream.urls"]);

/** Returns when a change of a setting takes effect. */
export function applyOf({ key, section, secret }: Pick<Setting, "key" | "section" | "secret">): SettingApply {
  if (secret !== undefined && !PUBLIC_URLS.has(key)) return "file";
  return APPLY[key] ?? APPLY[`${section}.*`] ?? "file";
}
