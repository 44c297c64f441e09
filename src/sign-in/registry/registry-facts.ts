import type { IndexDatabase } from "../../db/index/database.ts";
import { newestOnChainEvents, onChainEventsOf } from "../../db/index/project/on-chain.ts";
import { statement } from "../../db/index/statement.ts";
import { canonicalKey } from "../../protocol/auth-address.ts";
import { OnChainEventType, SignerEventType } from "../../protocol/wire/generated/on-chain.ts";

/** States of a key in the key registry. */
export const KEY_STATES = { null: 0, added: 1, removed: 2 } as const;

/** Contents of the registries on Optimism according to the index. Addresses have 20 bytes. */
export type RegistryFacts = ReturnType<typeof registryFactsFromIndex>;

const byCustody = statement<{ fid: number }, [custody: Uint8Array]>(
  "registry.fid-of-custody",
  "SELECT fid FROM fids WHERE custody = ? ORDER BY fid LIMIT 1",
);
const newest = statement<{ fid: number }>(
  "registry.newest-fid",
  "SELECT fid FROM fids WHERE fid > 0 AND custody IS NOT NULL ORDER BY fid DESC LIMIT 1",
);
const keyRow = statement<{ state: number; keyType: number }, [fid: number, key: Uint8Array]>(
  "registry.key",
  "SELECT state, key_type AS keyType FROM signers WHERE fid = ? AND key = ?",
);
const keyRows = statement<{ key: Uint8Array }, [fid: number, state: number, limit: number, from: number]>(
  "registry.keys",
  "SELECT key FROM signers WHERE fid = ? AND state = ? ORDER BY key LIMIT ? OFFSET ?",
);
const keyCount = statement<{ count: number }, [fid: number, state: number]>(
  "registry.count-keys",
  "SELECT count(*) AS count FROM signers WHERE fid = ? AND state = ?",
);

export function registryFactsFromIndex(db: IndexDatabase) {
  const registrations = OnChainEventType.EVENT_TYPE_ID_REGISTER;
  /** The owner may have changed the recovery address thousands of times. */
  const newestFirst = function* (fid: number) {
    yield* newestOnChainEvents(db, registrations, fid, 1);
    yield* onChainEventsOf(db, registrations, fid).toReversed();
  };
  const newestFid = () => db.get(newest)?.fid ?? 0;
  return {
    /** Returns the fid of a custody address; undefined if the index has none. */
    fidOf: (custody: Uint8Array): number | undefined => db.get(byCustody, custody)?.fid,
    /** Returns the largest registered fid; 0 if there are none. */
    newestFid,
    /** Returns the recovery address of a registered fid; undefined if no event names one. */
    recoveryOf(fid: number): Uint8Array | undefined {
      for (const { body } of newestFirst(fid)) {
        const recovery = body?.$case === "idRegisterEventBody" ? body.value.recoveryAddress : undefined;
        if (recovery && recovery.length === 20) return recovery;
      }
      return undefined;
    },
    /** Returns the block of the newest indexed registration; 0 if there are none. */
    height(): number {
      const fid = newestFid();
      return fid === 0 ? 0 : (newestFirst(fid).take(1).toArray()[0]?.blockNumber ?? 0);
    },
    keyOf(fid: number, key: Uint8Array): { readonly state: number; readonly keyType: number } {
      const { state, keyType = 0 } = db.get(keyRow, fid, canonicalKey(key)) ?? {};
      if (state === SignerEventType.SIGNER_EVENT_TYPE_ADD) return { state: KEY_STATES.added, keyType };
      if (state === SignerEventType.SIGNER_EVENT_TYPE_REMOVE) return { state: KEY_STATES.removed, keyType };
      // If the key has no event, or after a reset by the registry's admin.
      return { state: KEY_STATES.null, keyType: 0 };
    },
    /** Returns the keys in a state, in byte order, without the first `from`. */
    keysOf: (
      fid: number,
      state: number,
      { from, limit }: { readonly from: number; readonly limit: number },
    ): Uint8Array[] => {
      const stored = storedState(state);
      return stored === undefined ? [] : db.all(keyRows, fid, stored, limit, from).map(({ key }) => key);
    },
    countKeys: (fid: number, state: number): number => {
      const stored = storedState(state);
      return stored === undefined ? 0 : (db.get(keyCount, fid, stored)?.count ?? 0);
    },
  };
}

function storedState(state: number): SignerEventType | undefined {
  if (state === KEY_STATES.added) return SignerEventType.SIGNER_EVENT_TYPE_ADD;
  return state === KEY_STATES.removed ? SignerEventType.SIGNER_EVENT_TYPE_REMOVE : undefined;
}
