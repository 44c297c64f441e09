import { countRows, type StoreCounts } from "../../db/index/counts/store-counts.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import type { SplitMessage } from "../../db/index/messages/columns.ts";
import { isCounted, retractLost } from "../../db/index/project/project.ts";
import type { MessageRow } from "../../db/index/project/stored-message.ts";
import { Store } from "../../protocol/message/merge-rules.ts";
import type { MessageData } from "../../protocol/wire/generated/message.ts";

interface LostRowsDeps {
  readonly db: IndexDatabase;
  /** The account being healed. */
  readonly fid: number;
  readonly counts: Pick<StoreCounts, "get" | "add">;
  readonly count: (store: Store, table: MessageRow["table"], by: 1 | -1) => void;
}

/** A store of the account, which may have fewer rows than it counts. */
interface LossyStore {
  /** Whether it had fewer rows than counted before the healing. */
  readonly isLossy: boolean;
  /** How many more messages are counted than there are rows. Below 0 if too many were assumed lost. */
  missing: number;
  /** The tables of messages that were assumed lost although nothing shows that they were stored here. */
  readonly assumed: MessageRow["table"][];
}

/**
 * Tracks the messages of an account whose rows the disk lost, while the account is healed. Counts and rows derived from such
 * a row still exist, so a message that returns must not be counted again; but a message that an upstream had withheld must
 * be. The derived rows show which of the two a message is. The rows of a store are counted once.
 */
export class LostRows {
  readonly #deps: LostRowsDeps;
  readonly #stores = new Map<Store, LossyStore>();

  constructor(deps: LostRowsDeps) {
    this.#deps = deps;
  }

  /** Called before a message is stored and counted. */
  willPut(split: SplitMessage, data: MessageData, store: Store): void {
    const { db, fid, count } = this.#deps;
    if (data.fid !== fid) return;
    const lossy = this.#storeOf(store);
    if (!lossy.isLossy) return;
    const { table } = split.columns;
    const isKnown = isCounted(db, split, data);
    if (!(isKnown ?? lossy.missing > 0)) return;
    if (isKnown === undefined) lossy.assumed.push(table);
    lossy.missing -= 1;
    retractLost(db, split, data);
    count(store, table, -1);
  }

  /** Makes the counts of the account equal its rows, after all operations. */
  settle(): void {
    for (const store of Object.values(Store)) {
      const { missing, assumed } = this.#storeOf(store);
      // Too many were assumed lost: later messages are known to be the ones whose rows are lost.
      for (let more = missing; more < 0; more++)
        this.#deps.count(store, assumed.pop() ?? mainTableOf(store), 1);
      for (let fewer = missing; fewer > 0; fewer--) this.#deps.count(store, mainTableOf(store), -1);
    }
  }

  #storeOf(store: Store): LossyStore {
    const { db, fid, counts } = this.#deps;
    return this.#stores.getOrInsertComputed(store, () => {
      const missing = counts.get(fid, store) - countRows(db, fid, store);
      // The disk lost the count itself.
      if (missing < 0) counts.add(fid, store, -missing);
      return { isLossy: missing > 0, missing: Math.max(0, missing), assumed: [] };
    });
  }
}

/** Returns the table that has most messages of a store. */
function mainTableOf(store: Store): MessageRow["table"] {
  switch (store) {
    case Store.Casts:
      return "casts";
    case Store.Reactions:
      return "reactions";
    case Store.Links:
      return "links";
    case Store.UserData:
      return "user_data";
    default:
      return "messages";
  }
}
