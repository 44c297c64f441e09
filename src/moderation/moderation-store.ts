import { advanceKeyEpoch } from "../api-keys/api-key-store.ts";
import { type AuditEntry, addAuditEntry } from "../audit/audit-store.ts";
import { sql } from "../db/state/sql.ts";
import type { StateDb, Tx } from "../db/state/state-db.ts";
import { index, nullable, table, text, whole } from "../db/state/table.ts";

/** Accounts that the owner of API keys has banned: reads with the owner's keys leave them out. Times are unix seconds. */
export const appBans = table(
  "app_bans",
  {
    owner_fid: whole(),
    fid: whole(),
    banned_at: whole(),
    /** The API key that added the ban; null for a signed operation. */
    by_key_id: nullable(text()),
  },
  {
    key: ["owner_fid", "fid"],
    indexes: [index("app_bans_by_time", ["owner_fid", "banned_at", "fid"])],
  },
);

/** Accounts that a user has muted in an owner's app. No one else learns of it. Times are unix seconds. */
export const privateMutes = table(
  "private_mutes",
  {
    owner_fid: whole(),
    fid: whole(),
    muted_fid: whole(),
    muted_at: whole(),
  },
  {
    key: ["owner_fid", "fid", "muted_fid"],
    indexes: [index("private_mutes_by_time", ["owner_fid", "fid", "muted_at", "muted_fid"])],
  },
);

/** Incremented by each change of an owner's bans and mutes. An owner without a row has never had any. */
export const rulesVersions = table(
  "rules_versions",
  { owner_fid: whole(), version: whole() },
  {
    key: ["owner_fid"],
  },
);

export interface Ban {
  readonly fid: number;
  readonly bannedAt: number;
}

/** An owner, and a user that the owner has banned. */
export interface BannedPair {
  readonly ownerFid: number;
  readonly fid: number;
}

export interface PrivateMute {
  readonly mutedFid: number;
  readonly mutedAt: number;
}

/** A mute by a user in an owner's app, at `nowSecs`. */
export interface PrivateMuteOf {
  readonly ownerFid: number;
  readonly fid: number;
  readonly mutedFid: number;
  readonly nowSecs: number;
}

/** `keyId`: the API key that bans; null for a signed operation. */
export interface BannedBy {
  readonly keyId: string | null;
  readonly nowSecs: number;
}

/** Maximum numbers of records per owner, and of mutes per user in an owner's app. */
export const MODERATION_BOUNDS = { bans: 10_000, mutesOfUser: 1_000, mutes: 200_000 } as const;
export type ModerationBounds = Readonly<Record<keyof typeof MODERATION_BOUNDS, number>>;

/**
 * Stores bans and private mutes. Repeating a change has no effect, and the record keeps its time. Audit entries are added in the
 * transaction of the change.
 */
export interface ModerationStore {
  /** Adds bans. Returns whether there was room for all of them; otherwise none is added. */
  ban(
    ownerFid: number,
    fids: readonly number[],
    by: BannedBy,
    bounds: ModerationBounds,
    audit?: readonly AuditEntry[],
  ): Promise<boolean>;
  unban(ownerFid: number, fids: readonly number[], audit?: readonly AuditEntry[]): Promise<void>;
  /** Lists the bans of an owner after a position, newest first, then by fid. */
  bans(ownerFid: number, page: { readonly limit: number; readonly after: Ban | undefined }): Promise<Ban[]>;
  bannedFids(ownerFid: number): Promise<number[]>;
  /** Returns which of some fids are banned by which of some owners, as pairs. */
  bannedAmong(ownerFids: readonly number[], fids: readonly number[]): Promise<BannedPair[]>;
  /** Adds a mute. Returns whether there was room. */
  mute(mute: PrivateMuteOf, bounds: ModerationBounds, audit?: readonly AuditEntry[]): Promise<boolean>;
  unmute(ownerFid: number, fid: number, mutedFid: number, audit?: readonly AuditEntry[]): Promise<void>;
  /** Lists the mutes of a user in an owner's app, newest first. */
  mutes(ownerFid: number, fid: number): Promise<PrivateMute[]>;
  /** Returns the version of an owner's bans and mutes; 0 for an owner who never had any. */
  version(ownerFid: number): Promise<number>;
}

const bump = sql<unknown, [ownerFid: number]>(
  "moderation.bump",
  `INSERT INTO rules_versions (owner_fid, version) VALUES ($1, 1)
   ON CONFLICT (owner_fid) DO UPDATE SET version = rules_versions.version + 1`,
);
const versionOf = sql<{ version: number }, [ownerFid: number]>(
  "moderation.version",
  "SELECT version FROM rules_versions WHERE owner_fid = $1",
);
const otherBans = sql<{ count: number }, [ownerFid: number, fids: string]>(
  "moderation.other-bans",
  `SELECT count(*) AS count FROM app_bans WHERE owner_fid = $1 AND fid NOT IN (SELECT t.value::bigint FROM elements($2) t)`,
);
const addBans = sql<unknown, [ownerFid: number, fids: string, bannedAt: number, byKeyId: string | null]>(
  "moderation.ban",
  `INSERT INTO app_bans (owner_fid, fid, banned_at, by_key_id)
   SELECT $1, t.value::bigint, $3, $4 FROM elements($2) t WHERE true ORDER BY t.value::bigint
   ON CONFLICT (owner_fid, fid) DO NOTHING`,
);
const removeBans = sql<unknown, [ownerFid: number, fids: string]>(
  "moderation.unban",
  "DELETE FROM app_bans WHERE owner_fid = $1 AND fid IN (SELECT t.value::bigint FROM elements($2) t)",
);
const bansAfter = sql<
  { fid: number; banned_at: number },
  [ownerFid: number, at: number, fid: number, max: number]
>(
  "moderation.bans",
  `SELECT fid, banned_at FROM app_bans WHERE owner_fid = $1 AND (banned_at, fid) < ($2, $3)
   ORDER BY banned_at DESC, fid DESC LIMIT $4`,
);
const bannedFids = sql<{ fid: number }, [ownerFid: number]>(
  "moderation.banned-fids",
  "SELECT fid FROM app_bans WHERE owner_fid = $1",
);
/** Most owners have never banned anyone. For the others, each fid is a lookup by key. */
const bannedAmong = sql<{ owner_fid: number; fid: number }, [ownerFids: string, fids: string]>(
  "moderation.banned-among",
  `SELECT b.owner_fid, b.fid FROM rules_versions v
   CROSS JOIN elements($2) f JOIN app_bans b ON b.owner_fid = v.owner_fid AND b.fid = f.value::bigint
   WHERE v.owner_fid IN (SELECT o.value::bigint FROM elements($1) o)`,
);
const addMute = sql<unknown, [ownerFid: number, fid: number, mutedFid: number, mutedAt: number]>(
  "moderation.mute",
  `INSERT INTO private_mutes (owner_fid, fid, muted_fid, muted_at) VALUES ($1, $2, $3, $4)
   ON CONFLICT (owner_fid, fid, muted_fid) DO NOTHING`,
);
const otherMutes = sql<
  { of_user: number; of_owner: number },
  [ownerFid: number, fid: number, mutedFid: number]
>(
  "moderation.other-mutes",
  `SELECT (SELECT count(*) FROM private_mutes WHERE owner_fid = $1 AND fid = $2 AND muted_fid <> $3) AS of_user,
     (SELECT count(*) FROM private_mutes WHERE owner_fid = $1 AND (fid <> $2 OR muted_fid <> $3)) AS of_owner`,
);
const removeMute = sql<unknown, [ownerFid: number, fid: number, mutedFid: number]>(
  "moderation.unmute",
  "DELETE FROM private_mutes WHERE owner_fid = $1 AND fid = $2 AND muted_fid = $3",
);
const mutesOf = sql<{ muted_fid: number; muted_at: number }, [ownerFid: number, fid: number]>(
  "moderation.mutes",
  `SELECT muted_fid, muted_at FROM private_mutes WHERE owner_fid = $1 AND fid = $2
   ORDER BY muted_at DESC, muted_fid DESC`,
);

/** Counts and records a change. All nodes then drop their cached API keys, and with them the version. */
async function changed(tx: Tx, ownerFid: number, audit: readonly AuditEntry[]): Promise<void> {
  await tx.run(bump, ownerFid);
  await advanceKeyEpoch(tx);
  for (const entry of audit) await addAuditEntry(tx, entry);
}

export function createModeration(db: StateDb): ModerationStore {
  const ban = db.decision(
    "moderation.ban",
    async (
      tx,
      ownerFid: number,
      fids: readonly number[],
      by: BannedBy,
      max: number,
      audit: readonly AuditEntry[],
    ) => {
      await tx.lock("owner", `bans:${ownerFid}`);
      const json = JSON.stringify(fids);
      const others = (await tx.get(otherBans, ownerFid, json))?.count ?? 0;
      if (others + fids.length > max) return false;
      await tx.run(addBans, ownerFid, json, by.nowSecs, by.keyId);
      await changed(tx, ownerFid, audit);
      return true;
    },
  );
  const mute = db.decision(
    "moderation.mute",
    async (
      tx,
      { ownerFid, fid, mutedFid, nowSecs }: PrivateMuteOf,
      max: ModerationBounds,
      audit: readonly AuditEntry[],
    ) => {
      const pair = [ownerFid, fid, mutedFid] as const;
      await tx.lock("owner", `mutes:${ownerFid}`);
      const others = await tx.get(otherMutes, ...pair);
      if ((others?.of_user ?? 0) >= max.mutesOfUser || (others?.of_owner ?? 0) >= max.mutes) return false;
      await tx.run(addMute, ...pair, nowSecs);
      await changed(tx, ownerFid, audit);
      return true;
    },
  );
  const unban = db.decision(
    "moderation.unban",
    async (tx, ownerFid: number, fids: readonly number[], audit: readonly AuditEntry[]) => {
      await tx.lock("owner", `bans:${ownerFid}`);
      await tx.run(removeBans, ownerFid, JSON.stringify(fids));
      await changed(tx, ownerFid, audit);
    },
  );
  const unmute = db.decision(
    "moderation.unmute",
    async (tx, ownerFid: number, fid: number, mutedFid: number, audit: readonly AuditEntry[]) => {
      await tx.lock("owner", `mutes:${ownerFid}`);
      await tx.run(removeMute, ownerFid, fid, mutedFid);
      await changed(tx, ownerFid, audit);
    },
  );
  return {
    ban: (ownerFid, fids, by, { bans }, audit = []) => ban(ownerFid, fids, by, bans, audit),
    unban: (ownerFid, fids, audit = []) => unban(ownerFid, fids, audit),
    bans: async (ownerFid, { limit, after }) => {
      const { bannedAt, fid } = after ?? { bannedAt: Number.MAX_SAFE_INTEGER, fid: 0 };
      const rows = await db.all(bansAfter, ownerFid, bannedAt, fid, limit);
      return rows.map((row) => ({ fid: row.fid, bannedAt: row.banned_at }));
    },
    bannedFids: async (ownerFid) => (await db.all(bannedFids, ownerFid)).map(({ fid }) => fid),
    bannedAmong: async (ownerFids, fids) =>
      ownerFids.length === 0 || fids.length === 0
        ? []
        : (await db.all(bannedAmong, JSON.stringify(ownerFids), JSON.stringify(fids))).map((row) => ({
            ownerFid: row.owner_fid,
            fid: row.fid,
          })),
    mute: (asked, max, audit = []) => mute(asked, max, audit),
    unmute: (ownerFid, fid, mutedFid, audit = []) => unmute(ownerFid, fid, mutedFid, audit),
    mutes: async (ownerFid, fid) =>
      (await db.all(mutesOf, ownerFid, fid)).map((row) => ({
        mutedFid: row.muted_fid,
        mutedAt: row.muted_at,
      })),
    version: async (ownerFid) => (await db.get(versionOf, ownerFid))?.version ?? 0,
  };
}
