import { canonicalKey } from "../../../../protocol/auth-address.ts";
import { Store } from "../../../../protocol/message/merge-rules.ts";
import { OnChainEvent, OnChainEventType } from "../../../../protocol/wire/generated/on-chain.ts";
import { type TotalName, TotalsDelta } from "../../counts/totals.ts";
import type { IndexDatabase } from "../../database.ts";
import {
  nextKeyState,
  putKeyState,
  putProTier,
  putRegistration,
  registrationOf,
} from "../../project/on-chain.ts";
import { bulkStatement } from "../bulk-state.ts";
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

/** Yields the events of one type by fid, each fid's in chain order. */
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

const clearStoreCounts = bulkStatement<unknown>("bulk.store-counts.clear", "DELETE FROM store_counts");
/** Live adds of each table, then all other messages. */
const fillStoreCounts = bulkStatement<unknown>(
  "bulk.store-counts.fill",
  `INSERT INTO store_counts (fid, store, used)
   SELECT fid, store, sum(n) FROM (
     SELECT fid, ${Store.Casts} AS store, count(*) AS n FROM casts INDEXED BY casts_by_author GROUP BY fid
     UNION ALL SELECT fid, ${Store.Reactions}, count(*) FROM reactions GROUP BY fid
     UNION ALL SELECT fid, ${Store.Links}, count(*) FROM links GROUP BY fid
     UNION ALL SELECT fid, ${Store.UserData}, count(*) FROM user_data GROUP BY fid
     UNION ALL SELECT fid, store, count(*) FROM messages INDEXED BY messages_by_slot GROUP BY fid, store
   ) GROUP BY fid, store ORDER BY fid, store`,
);
const clearTotals = bulkStatement<unknown>("bulk.totals.clear", "DELETE FROM totals");

const counts = (name: string, sql: string) =>
  bulkStatement<{ fid: number; n: number }>(`bulk.totals.${name}`, sql);

const COUNTS: readonly (readonly [TotalName, ReturnType<typeof counts>])[] = [
  ["messages", counts("messages", "SELECT fid, sum(used) AS n FROM store_counts GROUP BY fid")],
  ["casts", counts("casts", "SELECT fid, count(*) AS n FROM casts INDEXED BY casts_by_author GROUP BY fid")],
  ["reactions", counts("reactions", "SELECT fid, count(*) AS n FROM reactions GROUP BY fid")],
  ["links", counts("links", "SELECT fid, count(*) AS n FROM links GROUP BY fid")],
  [
    "on_chain_events",
    counts("on-chain", "SELECT fid, count(*) AS n FROM on_chain_events GROUP BY type, fid"),
  ],
  ["fids", counts("fids", "SELECT fid, 1 AS n FROM fids")],
];

function buildTotals(db: IndexDatabase): void {
  db.run(clearStoreCounts);
  db.run(fillStoreCounts);
  db.run(clearTotals);
  const totals = new TotalsDelta(db);
  for (const [name, rows] of COUNTS) for (const { fid, n } of db.iterate(rows)) totals.add(name, fid, n);
  totals.flush(db);
}

export const TOTAL_STAGE: BulkStage = oneStep("totals", 2, ({ db }) => buildTotals(db));
