import { linkSlot, Store, slotOf } from "../../../protocol/merge-rules.ts";
import type { ReactionType } from "../../../protocol/wire/generated/message.ts";
import type { Statement } from "../../sqlite/statement-registry.ts";
import type { IndexDatabase } from "../database.ts";
import { linkTypeOf } from "../messages/link-type.ts";
import { bulkStatement } from "./bulk-statement.ts";
import { bulkTables, weeksOf, weekTable } from "./spool-tables.ts";

interface SpooledSlot {
  readonly fid: number;
  readonly store: number;
  readonly slot: Uint8Array;
}

const others = bulkStatement<SpooledSlot, []>("bulk.slots.others", "SELECT fid, store, slot FROM messages");
const reactions = bulkStatement<{
  fid: number;
  type: number;
  targetFid: number;
  hash: Uint8Array | null;
  url: string | null;
}>(
  "bulk.slots.reactions",
  `SELECT r.fid, r.type, r.target_fid AS targetFid, r.target_hash AS hash, u.url
   FROM bulk_reactions r LEFT JOIN urls u ON u.id = r.url_id`,
);
const links = bulkStatement<{ fid: number; type: number | string; targetFid: number }>(
  "bulk.slots.links",
  "SELECT fid, type, target_fid AS targetFid FROM bulk_links",
);
const userData = bulkStatement<{ fid: number; type: number }>(
  "bulk.slots.user-data",
  "SELECT fid, type FROM bulk_user_data",
);

/** Yields the slots of the messages in the spool. */
export function* spooledSlots(db: IndexDatabase): Generator<SpooledSlot> {
  if (!bulkTables(db).includes("bulk_links")) return;
  yield* db.iterate(others);
  for (const week of weeksOf(db)) {
    const casts: Statement<SpooledSlot, []> = {
      name: "bulk.slots.casts",
      sql: `SELECT fid, ${Store.Casts} AS store, hash AS slot FROM ${weekTable(week)}`,
    };
    yield* db.iterate(casts);
  }
  for (const { fid, type, targetFid, hash, url } of db.iterate(reactions)) {
    const target = hash
      ? ({ $case: "targetCastId", value: { fid: targetFid, hash } } as const)
      : ({ $case: "targetUrl", value: url ?? "" } as const);
    const body = { $case: "reactionBody", value: { type: type as ReactionType, target } } as const;
    const { slot } = slotOf({ data: { body } as never, hash: new Uint8Array() });
    yield { fid, store: Store.Reactions, slot };
  }
  for (const { fid, type } of db.iterate(userData))
    yield { fid, store: Store.UserData, slot: Uint8Array.of(type) };
  for (const { fid, type, targetFid } of db.iterate(links))
    yield { fid, store: Store.Links, slot: linkSlot(linkTypeOf(type), targetFid) };
}
