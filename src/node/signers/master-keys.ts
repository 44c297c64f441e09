import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config/schema.ts";
import { UserError } from "../../lib/failure.ts";
import { writePrivateFile } from "../../lib/files.ts";
import type { KeyUse } from "../../signers/store/signer-store.ts";
import { createMasterKeyText, type MasterKey, readMasterKey } from "../../signers/vault.ts";

type SignerSettings = Pick<Config, "signers">;

/** The master keys of the settings: the current one, then former ones; empty without one, or where signers are off. */
export function masterKeysOf({ signers }: SignerSettings): readonly MasterKey[] {
  if (!signers.enabled || signers.encryption_key === "") return [];
  return [signers.encryption_key, ...signers.previous_encryption_keys].map(readMasterKey);
}

/**
 * Refuses a start that could not sign with keys that are stored.
 *
 * @throws UserError naming each missing master key and the number of signers under it.
 */
export function refuseMissingKeys(config: SignerSettings, uses: readonly KeyUse[]): void {
  if (!config.signers.enabled) return;
  const known = new Set(masterKeysOf(config).map(({ keyId }) => keyId));
  const missing = uses.filter(({ keyId }) => !known.has(keyId));
  if (missing.length === 0) return;
  const listed = missing.map(
    ({ keyId, count }) => `${keyId} (${count} ${count === 1 ? "signer" : "signers"})`,
  );
  throw new UserError(
    `managed signers are sealed under master keys that the settings do not have: ${listed.join(", ")}. Set signers.encryption_key, or signers.previous_encryption_keys for a former key; with signers.enabled = false the node starts without signing.`,
  );
}

/** The file of the master key of a demo network, whose data directory holds no secrets of value. */
const DEMO_KEY_FILE = "signers.key";

/** Returns the settings with a master key of the demo's own, which is made at the first start, unless they have one. */
export function withDemoKey(config: Config): Config {
  if (config.signers.encryption_key !== "") return config;
  const path = join(config.data.dir, DEMO_KEY_FILE);
  if (!existsSync(path)) writePrivateFile(path, `${createMasterKeyText()}\n`);
  return withKeys(config, readFileSync(path, "utf8").trim());
}

/** Returns the settings for a thread that does not sign. */
export function withoutMasterKeys(config: Config): Config {
  return withKeys({ ...config, signers: { ...config.signers, previous_encryption_keys: [] } }, "");
}

function withKeys(config: Config, encryptionKey: string): Config {
  return { ...config, signers: { ...config.signers, encryption_key: encryptionKey } };
}
