import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config/schema.ts";
import type { StateDb } from "../../db/state/state-db.ts";
import { UserError } from "../../lib/failure.ts";
import { createNoticeStore } from "../../notices/store/notice-store.ts";
import { writePrivateFile } from "../../runtime/files.ts";
import { createSignInKeys } from "../../sign-in/tokens/key-store.ts";
import type { KeyUse } from "../../signers/store/signer-store.ts";
import { createSigners } from "../../signers/store/signer-table.ts";
import { createMasterKeyText, type MasterKey, readMasterKey } from "../../vault/master-key.ts";

type SignerSettings = Pick<Config, "signers">;

/** Returns the master keys of the settings, the current one first; empty if there is none or signers are off. */
export function masterKeysOf({ signers }: SignerSettings): readonly MasterKey[] {
  if (!signers.enabled || signers.encryption_key === "") return [];
  return [signers.encryption_key, ...signers.previous_encryption_keys].map(readMasterKey);
}

/** The number of keys sealed under a master key. */
export interface SealedUse extends KeyUse {
  readonly unit: string;
}

/** Returns how many keys of a state are sealed under each master key. */
export async function sealedUses(db: StateDb): Promise<readonly SealedUse[]> {
  const signers = await createSigners(db).keyUses();
  const tokens = await createSignInKeys(db).list();
  const notices = createNoticeStore(db);
  const vapidKey = await notices.vapidKey();
  const channels = [...(await notices.list()), ...(vapidKey ? [vapidKey] : [])];
  return [
    ...signers.map((use) => ({ ...use, unit: "signer" })),
    ...tokens.map(({ keyId }) => ({ keyId, count: 1, unit: "Quick Auth key" })),
    ...channels.flatMap(({ keyId }) =>
      keyId === "" ? [] : [{ keyId, count: 1, unit: "channel of notices" }],
    ),
  ];
}

/**
 * Refuses to start if stored keys could not be used for signing. Returns what is sealed; empty if signers are off.
 *
 * @throws UserError with each missing master key and the number of keys under it.
 */
export async function refuseMissingKeys(config: SignerSettings, db: StateDb): Promise<readonly SealedUse[]> {
  if (!config.signers.enabled) return [];
  const known = new Set(masterKeysOf(config).map(({ keyId }) => keyId));
  const uses = await sealedUses(db);
  const missing = uses.filter(({ keyId }) => !known.has(keyId));
  if (missing.length === 0) return uses;
  const listed = missing.map(
    ({ keyId, count, unit }) => `${keyId} (${count} ${count === 1 ? unit : `${unit}s`})`,
  );
  throw new UserError(
    `managed signers are sealed under master keys that the settings do not have: ${listed.join(", ")}. Set signers.encryption_key, or signers.previous_encryption_keys for a former key; with signers.enabled = false the node starts without signing.`,
  );
}

/** The file of a demo network's master key. Its data directory contains no valuable secrets. */
const DEMO_KEY_FILE = "signers.key";

/** Returns the settings with the demo's own master key, which is created at the first start, unless they have a master key. */
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
