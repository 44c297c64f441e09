import { canonicalKey } from "../../../../protocol/auth-address.ts";
import { OnChainEvent, OnChainEventType } from "../../../../protocol/wire/generated/on-chain.ts";
import type { IndexDatabase } from "../../database.ts";
import {
  nextKeyState,
  putKeyState,
  putProTier,
  putRegistration,
  registrationOf,
} from "../../project/on-chain.ts";
import { bulkStatement } from "../bulk-statement.ts";
import { type BulkStage, oneStep } from "./stage.ts";

const eventsOfType = bulkStatement<{ fid: number; bytes: Uint8Array }, [type: number]>(
  "bulk.registry.events",
  "SELECT fid, bytes FROM on_chain_events WHERE type = ? ORDER BY fid, block_number, log_index",
);
const CLEAR = ["fids", "signers", "pro_tiers"].map((table) =>
  bulkStatement<unknown>(`bulk.registry.clear ${table}`, `DELETE FROM ${table}`),
);

/** Derives registrations, keys and Pro tiers from the on-chain events. */
function buildRegistry(db: IndexDatabase): void {
  for (const clear of CLEAR) db.run(clear);
  for (const { fid, events } of byFid(db, OnChainEventType.EVENT_TYPE_ID_REGISTER))
    putRegistration(db, fid, registrationOf(events));
  for (const { fid, events } of byFid(db, OnChainEventType.EVENT_TYPE_TIER_PURCHASE))
    putProTier(db, fid, events);
  for (const { fid, events } of byFid(db, OnChainEventType.EVENT_TYPE_SIGNER)) {
    const keys = new Map<string, { key: Uint8Array; state: ReturnType<typeof nextKeyState> }>();
    for (const event of events) {
      if (event.body?.$case !== "signerEventBody") continue;
      const key = canonicalKey(event.body.value.key);
      const name = key.toHex();
      keys.set(name, { key, state: nextKeyState(keys.get(name)?.state, event) });
    }
    for (const [, { key, state }] of [...keys].sort(([a], [b]) => (a < b ? -1 : 1)))
      putKeyState(db, fid, key, state);
  }
}

/** The events of one type in chain order, by fid. */
function* byFid(
  db: IndexDatabase,
  type: OnChainEventType,
): Generator<{ fid: number; events: OnChainEvent[] }> {
  let group: { readonly fid: number; readonly events: OnChainEvent[] } | undefined;
  for (const { fid, bytes } of db.iterate(eventsOfType, type)) {
    if (group && group.fid !== fid) {
      yield group;
      group = undefined;
    }
    group ??= { fid, events: [] };
    group.events.push(OnChainEvent.decode(bytes));
  }
  if (group) yield group;
}

export const REGISTRY_STAGE: BulkStage = oneStep("registry", 3, ({ db }) => buildRegistry(db));
