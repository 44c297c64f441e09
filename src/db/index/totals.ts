import type { SignedMessage } from "../../protocol/signed-message.ts";
import { MessageType } from "../../protocol/wire/generated/message.ts";
import type { IndexDatabase } from "./database.ts";
import { statement } from "./statement.ts";

const addTotal = statement<unknown, [name: string, by: number]>(
  "totals.add",
  `INSERT INTO totals (name, count) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET count = count + ?2`,
);
const allTotals = statement<{ name: string; count: number }>("totals.all", "SELECT name, count FROM totals");

/** Kinds of row. `casts`, `reactions` and `links` count live adds; `messages` also counts removes. */
export type TotalName = "messages" | "on_chain_events" | "fids" | "casts" | "reactions" | "links";

/** Changes of the totals during one transaction, written at its end. */
export class TotalsDelta {
  readonly #changes = new Map<TotalName, number>();

  add(name: TotalName, by: number): void {
    this.#changes.set(name, (this.#changes.get(name) ?? 0) + by);
  }

  /** Discards the changes of a transaction that was rolled back. */
  clear(): void {
    this.#changes.clear();
  }

  /** Writes the changes. Call it last in the transaction. */
  flush(db: IndexDatabase): void {
    for (const [name, by] of this.#changes) if (by !== 0) db.run(addTotal, name, by);
    this.#changes.clear();
  }
}

/** The total that counts a live message, in addition to `messages`. */
export function totalOf(message: SignedMessage): TotalName | undefined {
  switch (message.data.type) {
    case MessageType.MESSAGE_TYPE_CAST_ADD:
      return "casts";
    case MessageType.MESSAGE_TYPE_REACTION_ADD:
      return "reactions";
    case MessageType.MESSAGE_TYPE_LINK_ADD:
      return "links";
    default:
      return undefined;
  }
}

/** The totals of the whole index. */
export function readTotals(db: IndexDatabase): Record<TotalName, number> {
  const totals = { messages: 0, on_chain_events: 0, fids: 0, casts: 0, reactions: 0, links: 0 };
  for (const { name, count } of db.all(allTotals)) if (name in totals) totals[name as TotalName] = count;
  return totals;
}
