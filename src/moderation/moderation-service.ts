import { Type } from "@sinclair/typebox";
import type { AuditEntry } from "../audit/audit-store.ts";
import type { ApiKeyCaller } from "../http/caller.ts";
import { ok, type Result } from "../lib/result.ts";
import { ownValue, readObject } from "../management/fields.ts";
import { badField, type Refusal } from "../management/refusal.ts";
import { FidNumber } from "../management/request-schema.ts";
import type { OwnerRules } from "../read/hydrate/relations.ts";
import type { Clock } from "../runtime/clock.ts";
import {
  type BannedBy,
  MODERATION_BOUNDS,
  type ModerationStore,
  type PrivateMuteOf,
} from "./moderation-store.ts";

/** Owners and users whose lists a thread caches. Each map is cleared when it is full. */
const MAX_OWNERS = 256;
const MAX_MUTERS = 4_096;

/** Bans and private mutes, and what they hide from reads with a key of their owner. */
export interface Moderation extends Pick<ModerationStore, "unban" | "bans" | "unmute" | "mutes"> {
  /** Adds bans. Returns whether there was room for all of them; otherwise none is added. */
  ban(
    ownerFid: number,
    fids: readonly number[],
    by: BannedBy,
    audit: readonly AuditEntry[],
  ): Promise<boolean>;
  /** Adds a mute. Returns whether there was room. */
  mute(mute: PrivateMuteOf, audit: readonly AuditEntry[]): Promise<boolean>;
  /**
   * Returns the lists of a key's owner, with the mutes of some users; undefined (not a promise) for an owner who never had any. They are
   * of the version that the gate saw, or newer.
   */
  rulesOf(caller: ApiKeyCaller, users: readonly number[]): Promise<OwnerRules> | undefined;
}

/** @param deps.forgetKeys makes all HTTP workers of this process drop their cached API keys, and with them the versions of lists. */
export function createModerationService({
  store,
  forgetKeys,
}: {
  readonly store: ModerationStore;
  readonly forgetKeys: () => void;
}): Moderation {
  const bans = new Map<number, Versioned>();
  const mutes = new Map<string, Versioned>();

  /** Loads a list once for each version. */
  async function listOf<Key>(
    known: Map<Key, Versioned>,
    max: number,
    entry: { readonly key: Key; readonly version: number; readonly load: () => Promise<readonly number[]> },
  ): Promise<ReadonlySet<number>> {
    const found = known.get(entry.key);
    if (found && found.version >= entry.version) return found.fids;
    const fids = new Set(await entry.load());
    if (known.size >= max) known.clear();
    known.set(entry.key, { version: entry.version, fids });
    return fids;
  }

  const after =
    <Args extends readonly unknown[], Result>(change: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      try {
        return await change(...args);
      } finally {
        // A change whose response was lost may still have happened.
        forgetKeys();
      }
    };

  const ban = after(store.ban);
  const mute = after(store.mute);

  return {
    ban: (ownerFid, fids, by, audit) => ban(ownerFid, fids, by, MODERATION_BOUNDS, audit),
    unban: after(store.unban),
    mute: (asked, audit) => mute(asked, MODERATION_BOUNDS, audit),
    unmute: after(store.unmute),
    bans: store.bans,
    mutes: store.mutes,
    rulesOf({ ownerFid, rulesVersion: version }, users) {
      if (version === 0) return undefined;
      return load(ownerFid, version, users);
    },
  };

  async function load(ownerFid: number, version: number, users: readonly number[]): Promise<OwnerRules> {
    const banned = await listOf(bans, MAX_OWNERS, {
      key: ownerFid,
      version,
      load: () => store.bannedFids(ownerFid),
    });
    const muted = new Map<number, ReadonlySet<number>>();
    for (const fid of users) {
      const fids = await listOf(mutes, MAX_MUTERS, {
        key: `${ownerFid}:${fid}`,
        version,
        load: async () => (await store.mutes(ownerFid, fid)).map(({ mutedFid }) => mutedFid),
      });
      if (fids.size > 0) muted.set(fid, fids);
    }
    return { banned, muted };
  }
}

interface Versioned {
  readonly version: number;
  readonly fids: ReadonlySet<number>;
}

/** Maximum number of audit entries for one change of a list. */
const MAX_AUDITED = 20;

/** Who changes a list of an owner, and from where. */
export interface ModerationActor {
  readonly ownerFid: number;
  readonly apiKeyId: string | null;
  readonly requestId: string;
  /** The client's address. */
  readonly address: string;
}

/**
 * Returns the audit entries of a change: one per banned user up to a limit, or one for the user who mutes. The muted user is not
 * recorded.
 */
export function moderationEntries(
  { ownerFid, apiKeyId, requestId, address }: ModerationActor,
  action: "ban.add" | "ban.remove" | "mute.add" | "mute.remove",
  fids: readonly number[],
  clock: Clock,
): AuditEntry[] {
  const atMs = clock.nowMs();
  return fids.slice(0, MAX_AUDITED).map((userFid) => ({
    ...{ atMs, ownerFid, action, apiKeyId, signerUuid: null, userFid, hash: null },
    ...{ outcome: "ok", requestId, address },
  }));
}

/** Maximum number of fids in a request. */
export const MAX_BANS_PER_REQUEST = 1_000;

export const BansRequest = Type.Object(
  { fids: Type.Array(FidNumber, { minItems: 1, maxItems: MAX_BANS_PER_REQUEST, uniqueItems: true }) },
  { $id: "BansRequest" },
);

/** Reads the fids of a request; they need not be registered. @param ownFid an fid that is refused. */
export function readBans(value: unknown, ownFid: number | undefined): Result<readonly number[], Refusal> {
  const body = readObject(value, "request body");
  if (!body.ok) return body;
  const given = ownValue(body.value, "fids");
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_BANS_PER_REQUEST)
    return badField(`fids must be an array of 1 to ${MAX_BANS_PER_REQUEST} fids`);
  const fids = new Set<number>();
  for (const entry of given) {
    if (!Number.isSafeInteger(entry) || entry <= 0) return badField("every entry of fids must be an fid");
    if (entry === ownFid) return badField("fids must not contain the owner of the bans");
    fids.add(entry);
  }
  return fids.size === given.length ? ok([...fids]) : badField("fids must be distinct");
}
