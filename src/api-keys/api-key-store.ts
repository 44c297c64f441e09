import type { Scope } from "../http/caller.ts";
import type { OwnedRecord, OwnedStore } from "../management/owned-store.ts";

/** A key that acts for its owner. The values of its secrets are digests of texts (`keyDigest`). Times are unix seconds. */
export interface ApiKey extends OwnedRecord {
  /** 16 characters of base58. */
  readonly apiKeyId: string;
  readonly name: string;
  /** The part of its text that is shown, the same for all its secrets. */
  readonly prefix: string;
  readonly scopes: readonly Scope[];
  readonly appId: string | null;
  /** What the owner has set; see `inactiveReason`. */
  readonly active: boolean;
  /** The owner's custody address when the key was created or activated, 20 bytes. */
  readonly custody: Uint8Array;
  /** Null for the operator's limit. */
  readonly unitsPerMinute: number | null;
  readonly writesPerMinute: number | null;
  /** The first second at which it is invalid. */
  readonly expiresAt: number | null;
  /** May lag a minute behind. */
  readonly lastUsedAt: number | null;
}

export type ApiKeyChanges = Partial<
  Pick<
    ApiKey,
    "name" | "scopes" | "appId" | "active" | "custody" | "unitsPerMinute" | "writesPerMinute" | "expiresAt"
  >
>;

export interface UsageCounts {
  readonly requests: number;
  readonly units: number;
  /** Messages. */
  readonly writes: number;
  /** Responses with status 400 or above, except 429. */
  readonly errors: number;
  /** Responses with status 429. */
  readonly limited: number;
}

/** What a key was used for on a UTC day, by route. */
export interface UsageRow {
  readonly apiKeyId: string;
  /** Days since 1970. */
  readonly day: number;
  readonly route: string;
  readonly counts: UsageCounts;
}

/** The API keys. */
export interface ApiKeyStore extends OwnedStore<ApiKey, ApiKeyChanges> {
  /** The key of an unexpired secret whose stored digest has this digest. The caller compares the secret itself. */
  findBySecret(digest: Uint8Array, nowSecs: number): Promise<ApiKey | undefined>;
  /** Rises in the transaction of each update, deletion and rotation; 0 where no other node shares the state. */
  keyEpoch(): Promise<number>;
  /** The live nodes that may still use what they knew of keys before an epoch. This one does not count. */
  nodesBehind(keyEpoch: number): Promise<number>;
  /** Adds to the usage of keys that exist, and marks them as used now. */
  addUsage(rows: readonly UsageRow[], nowSecs: number): Promise<void>;
  /** The usage of a key by day and route, both days included. */
  usage(apiKeyId: string, days: { readonly fromDay: number; readonly toDay: number }): Promise<UsageRow[]>;
}
