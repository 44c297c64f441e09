import { createShardOf, shardCount } from "../../db/index/counts/totals.ts";
import { statement } from "../../db/index/statement.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { Store } from "../../protocol/message/merge-rules.ts";
import { purchasedUnits, storageLimits, usableUnits } from "../../protocol/storage.ts";
import { StorageUnitType, type UserNameProof, UserNameType } from "../../protocol/wire/generated/message.ts";
import { TierType } from "../../protocol/wire/generated/on-chain.ts";
import { type StorageLimitsResponse, StoreType } from "../../protocol/wire/generated/reads.ts";
import { nowSecs } from "../../runtime/clock.ts";
import { storageOf } from "../queries/users/registry.ts";
import type { UsernameProofState } from "../queries/users/users.ts";
import { type ReadContext, readList, readOne } from "./context.ts";
import type { FidQuery } from "./lists/message-lists.ts";
import { EVENT_PAGES, type Page, type PageQuery, type RowFormat, readKeyedList, tokenCodec } from "./page.ts";
import { BEING_FILLED, invalidParam, notFound, type Refusal } from "./refusal.ts";
import type { ListReader } from "./turns.ts";

/** A page has as many names as fit into the size that clients accept. No fid has this many. */
const MAX_PROOFS = 10_000;

const proofColumns = "SELECT name, type, fid, owner, signature, timestamp";
const proofByName = statement<UsernameProofState, [name: string]>(
  "hub.username-proof",
  `${proofColumns} FROM username_proofs WHERE name = ?`,
);
const proofsByFid = statement<UsernameProofState, [fid: number]>(
  "hub.username-proofs",
  `${proofColumns} FROM username_proofs WHERE fid = ?1
   UNION ALL ${proofColumns} FROM username_proof_rivals WHERE fid = ?1
   ORDER BY name LIMIT ${MAX_PROOFS}`,
);
const proExpiry = statement<{ expiresAt: number }, [fid: number]>(
  "hub.pro-expiry",
  "SELECT expires_at AS expiresAt FROM pro_tiers WHERE fid = ?",
);
const messageProofCount = statement<{ count: number }, [fid: number]>(
  "hub.message-proof-count",
  `SELECT (SELECT count(*) FROM username_proofs WHERE fid = ?1 AND type != ${UserNameType.USERNAME_TYPE_FNAME})
     + (SELECT count(*) FROM username_proof_rivals WHERE fid = ?1 AND type != ${UserNameType.USERNAME_TYPE_FNAME}) AS count`,
);
const fidsAfter = statement<{ fid: number }, [fid: number, limit: number]>(
  "hub.fids",
  "SELECT fid FROM fids WHERE fid > ? ORDER BY fid LIMIT ?",
);
const fidsBefore = statement<{ fid: number }, [fid: number, limit: number]>(
  "hub.fids-reversed",
  "SELECT fid FROM fids WHERE fid < ? ORDER BY fid DESC LIMIT ?",
);

export interface AccountReads {
  /** Returns the live proof of a name. That of a released fname has fid 0. */
  usernameProof(query: { name: Uint8Array }): Result<UserNameProof, Refusal>;
  usernameProofsByFid(query: FidQuery): Result<readonly UserNameProof[], Refusal>;
  storageLimits(query: FidQuery): Result<StorageLimitsResponse, Refusal>;
  /** Lists registered fids, ascending. Shard 0, or none, means all shards. */
  fids<Item>(
    query: PageQuery & { readonly shardId?: number | undefined },
    format: RowFormat<number, Item>,
    reader?: ListReader,
  ): Promise<Result<Page<Item>, Refusal>>;
}

const fidTokens = tokenCodec("GetFids", ["int"]);

export function createAccountReads(context: ReadContext): AccountReads {
  const { db } = context;
  const shardOf = createShardOf(db);
  return {
    usernameProof({ name }) {
      if (!context.isFilled()) return err(BEING_FILLED);
      const proof = db.get(proofByName, Buffer.from(name).toString("utf8"));
      return proof ? ok(wireProof(proof)) : notFound("username proof");
    },
    usernameProofsByFid: ({ fid }) =>
      fid === 0 && context.isFilled()
        ? ok([])
        : readOne(context, fid, "profile", () => ok(db.all(proofsByFid, fid).map(wireProof))),
    storageLimits: ({ fid }) => readOne(context, fid, "all", () => ok(limitsOf(context, fid))),
    async fids(query, format, reader) {
      const { shardId = 0 } = query;
      if (shardId > shardCount(db)) return invalidParam("no such shard");
      const list = {
        tokens: fidTokens,
        sizes: EVENT_PAGES,
        keyOf: (fid: number) => [fid] as const,
        read: (after: readonly [number] | undefined, limit: number, reverse: boolean) => {
          const edge = reverse ? Number.MAX_SAFE_INTEGER : 0;
          return db.all(reverse ? fidsBefore : fidsAfter, after?.[0] ?? edge, limit).map(({ fid }) => fid);
        },
        includes: (fid: number) => shardId === 0 || shardOf(fid) === shardId,
      };
      return readList(context, reader, (turns) => readKeyedList(list, { page: query, format, turns }));
    },
  };
}

function wireProof({ name, ...proof }: UsernameProofState): UserNameProof {
  return { ...proof, name: Buffer.from(name) };
}

const UNIT_TYPES = [
  StorageUnitType.UNIT_TYPE_LEGACY,
  StorageUnitType.UNIT_TYPE_2024,
  StorageUnitType.UNIT_TYPE_2025,
] as const;

/** The stores, in the order and with the names of the reference node. */
const STORES = [
  [Store.Casts, StoreType.STORE_TYPE_CASTS, "CASTS"],
  [Store.Links, StoreType.STORE_TYPE_LINKS, "LINKS"],
  [Store.Reactions, StoreType.STORE_TYPE_REACTIONS, "REACTIONS"],
  [Store.UserData, StoreType.STORE_TYPE_USER_DATA, "USER_DATA"],
  [Store.Verifications, StoreType.STORE_TYPE_VERIFICATIONS, "VERIFICATIONS"],
  [Store.UsernameProofs, StoreType.STORE_TYPE_USERNAME_PROOFS, "USERNAME_PROOFS"],
  [Store.StorageLends, StoreType.STORE_TYPE_STORAGE_LENDS, "STORAGE_LENDS"],
] as const;

function limitsOf({ db, clock }: ReadContext, fid: number): StorageLimitsResponse {
  const now = nowSecs(clock);
  const { holdings, used } = storageOf(db, fid);
  const { limits } = storageLimits(holdings, now);
  const purchased = purchasedUnits(holdings.rents, now);
  const usable = usableUnits(holdings, now);
  const unitsOf = (lends: typeof holdings.lent, type: StorageUnitType) =>
    lends.reduce((sum, { unitType, units }) => sum + (unitType === type ? units : 0), 0);
  // A node that follows another has the proofs of names but not their messages.
  const proofs = db.get(messageProofCount, fid)?.count ?? 0;
  const proUntil = db.get(proExpiry, fid)?.expiresAt ?? 0;
  return {
    limits: STORES.map(([store, storeType, name]) => ({
      storeType,
      name,
      limit: limits.get(store) ?? 0,
      used: store === Store.UsernameProofs ? proofs : (used.get(store) ?? 0),
      earliestTimestamp: 0,
      earliestHash: new Uint8Array(),
    })),
    units: UNIT_TYPES.reduce((sum, type) => sum + usable[type], 0),
    unitDetails: UNIT_TYPES.map((unitType) => ({
      unitType,
      unitSize: usable[unitType],
      purchasedUnitSize: purchased[unitType],
      lentUnitSize: unitsOf(holdings.lent, unitType),
      borrowedUnitSize: unitsOf(holdings.borrowed, unitType),
    })),
    // As on the reference node, there is always one subscription, with 0 for an fid that has none.
    tierSubscriptions: [{ tierType: TierType.TIER_TYPE_PRO, expiresAt: proUntil > now ? proUntil : 0 }],
  };
}
