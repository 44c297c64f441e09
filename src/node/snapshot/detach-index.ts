import type { IndexDatabase } from "../../db/index/database.ts";
import { LOG_PROPERTIES } from "../../db/index/identity.ts";
import { markAllPublished } from "../../db/index/log/outbox.ts";
import { clearMeta } from "../../db/index/meta.ts";
import type { COPIED_TABLES, OTHER_TABLES } from "../../db/index/upgrade/tables.ts";

type Treatment =
  /** The copy contains all rows. */
  | "whole"
  /** Some rows are changed or removed. */
  | "adjusted"
  | "emptied";

/**
 * What happens to each table of an index in a copy for another node or a later time. Tables derived from messages are copied whole. A new
 * table that is not listed is a type error.
 */
export const COPY_TREATMENT: Readonly<
  Record<(typeof COPIED_TABLES)[number] | (typeof OTHER_TABLES)[number], Treatment>
> = {
  on_chain_events: "whole",
  // What the nodes followed by the original have confirmed.
  confirmed_events: "emptied",
  username_proofs: "whole",
  username_proof_rivals: "whole",
  gasless_keys: "whole",
  key_nonces: "whole",
  key_removals: "whole",
  channel_registry: "whole",
  rankings: "whole",
  score_runs: "whole",
  scores: "whole",
  // The stream shows events for some time after their publication.
  event_outbox: "whole",
  // The blocks of a followed node have the same numbers in every index. A node with its own numbers ends the log of a copy.
  hub_events: "whole",
  hub_blocks: "whole",
  upstream_journal: "whole",
  upstream_mentioned: "whole",
  upstream_todo: "whole",
  chain_heads: "whole",
  trie_corrections: "whole",
  trie_key_adds: "whole",
  trie_opaque: "whole",
  trie_accounts: "whole",
  trie_dirty: "whole",
  trie_shards: "whole",
  channels: "whole",
  channel_slots: "whole",
  channel_replaced: "whole",
  channel_counts: "whole",
  owner_claims: "whole",
  unknown_records: "whole",
  unknown_kinds: "whole",
  cast_repoints: "whole",
  // Contains the publication position.
  positions: "adjusted",
  meta: "adjusted",
  // Used only to invalidate the caches of running processes.
  touched: "emptied",
};

/**
 * Makes a copy of an index independent of the original.
 *
 * @param options.hasState whether the copy is used with a state that has the ids of all events up to its publication position. If so, it
 * publishes the events after that. Otherwise it publishes none of them, because the original or other nodes do.
 */
export function detachIndex(db: IndexDatabase, { hasState }: { readonly hasState: boolean }): void {
  db.transaction(() => {
    if (!hasState) markAllPublished(db);
    for (const key of LOG_PROPERTIES) clearMeta(db, key);
  });
  for (const [table, treatment] of Object.entries(COPY_TREATMENT))
    if (treatment === "emptied") db.sqlite.run(`DELETE FROM ${table}`);
}
