import type { Config } from "../config/schema.ts";
import { readMasterKey } from "../vault/master-key.ts";

/** Settings by key, as text. */
export type SettingTexts = Readonly<Record<string, string>>;

/** The settings of a node that are compared with those of other nodes. */
export interface ComparedSettings {
  /** Must be the same on all nodes: a node with a different value refuses to start. */
  readonly hard: SettingTexts;
  /** May differ during a rolling change: a different value is a warning. */
  readonly soft: SettingTexts;
}

/** All settings of these sections are compared, except those that concern one process. */
const SOFT_SECTIONS = [
  "service",
  "http",
  "auth",
  "apps",
  "api_keys",
  "webhooks",
  "send",
  "trending",
  "notifications",
  "net",
] as const;
const OF_ONE_PROCESS = new Set([
  "service.shutdown_deadline_secs",
  "http.host",
  "http.port",
  "http.workers",
  "http.idle_timeout_secs",
  "http.shutdown_grace_secs",
  "http.drain_delay_secs",
  "webhooks.delivery_concurrency",
  "send.send_concurrency",
]);

/** A setting that nodes never change together, because the records of a state belong to one network. */
export const NETWORK_SETTING = "protocol.network";

/** Compared by the fids that it contains. */
const FID_FILE = "upstream.fid_file";
const SIGNERS_ENABLED = "signers.enabled";
/** Not a setting: the keys themselves never leave the node. */
const MASTER_KEY_IDS = "signers.master_key_ids";

/** @param followed the followed fids; undefined for all. */
export function comparedSettings(
  config: Config,
  followed: ReadonlySet<number> | undefined,
): ComparedSettings {
  const hard = {
    [NETWORK_SETTING]: config.protocol.network,
    "service.name": config.service.name,
    "upstream.fids": fingerprintOf(followed),
    "auth.signed_at_window_secs": String(config.auth.signed_at_window_secs),
    "send.dedupe_ttl_secs": String(config.send.dedupe_ttl_secs),
  };
  const soft: Record<string, string> = {
    [SIGNERS_ENABLED]: String(config.signers.enabled),
    [MASTER_KEY_IDS]: masterKeyIds(config.signers).join(","),
  };
  for (const section of SOFT_SECTIONS) {
    for (const [name, value] of Object.entries(config[section])) {
      const key = `${section}.${name}`;
      if (!(key in hard) && !OF_ONE_PROCESS.has(key)) soft[key] = JSON.stringify(value);
    }
  }
  return { hard, soft };
}

/** Reports whether nodes that differ in a setting refuse to start together. */
export function mustBeAlike(config: Config, key: string): boolean {
  return key === FID_FILE || key in comparedSettings(config, undefined).hard;
}

/** Returns the ids of a node's master keys for users' keys. */
function masterKeyIds({
  enabled,
  encryption_key: current,
  previous_encryption_keys: previous,
}: Config["signers"]): string[] {
  return enabled && current !== "" ? [current, ...previous].map((text) => readMasterKey(text).keyId) : [];
}

/** Reports whether a node with these settings can open what is sealed under a master key, or does not open anything at all. */
export function knowsMasterKey(soft: SettingTexts, keyId: string): boolean {
  return soft[SIGNERS_ENABLED] === "false" || (soft[MASTER_KEY_IDS]?.split(",").includes(keyId) ?? false);
}

/** Returns the keys whose values differ. A key that one side lacks is ignored, because its release does not know it. */
export function differingKeys(one: SettingTexts, other: SettingTexts): string[] {
  return Object.keys(one).filter((key) => other[key] !== undefined && other[key] !== one[key]);
}

/** Returns the settings in a stored text; empty if it is invalid. */
export function parseSettings(text: string): SettingTexts {
  const parsed: unknown = JSON.parse(text);
  return typeof parsed === "object" && parsed !== null ? (parsed as SettingTexts) : {};
}

function fingerprintOf(fids: ReadonlySet<number> | undefined): string {
  if (!fids) return "all";
  const sorted = [...fids].sort((a, b) => a - b).join(",");
  return new Bun.CryptoHasher("sha256").update(sorted).digest("hex").slice(0, 16);
}
