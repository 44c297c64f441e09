import { UserError } from "../../lib/failure.ts";
import type { IndexDatabase } from "./database.ts";
import { statement } from "./statement.ts";
import { readTotals } from "./totals.ts";

const getMeta = statement<{ value: string }, [key: string]>(
  "meta.get",
  "SELECT value FROM meta WHERE key = ?",
);
const putMeta = statement<unknown, [key: string, value: string]>(
  "meta.put",
  "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2",
);

/**
 * Holds an index to the network that it was made for.
 *
 * @throws UserError when it holds another network's data.
 */
export function claimNetwork(db: IndexDatabase, network: string): void {
  const held = db.get(getMeta, "network")?.value;
  if (held === undefined) db.run(putMeta, "network", network);
  else if (held !== network) {
    throw new UserError(
      `the index in this data directory holds ${held}; protocol.network is ${network}. Use another data directory.`,
    );
  }
}

/** Whether the index was filled with the demo network, whose keys anybody can have. */
export function isDemo(db: IndexDatabase): boolean {
  return db.get(getMeta, "demo") !== undefined;
}

/** Whether the index is filled from an upstream, whose word alone it holds. */
export function isFollowing(db: IndexDatabase): boolean {
  return db.get(getMeta, "follows") !== undefined;
}

/**
 * Holds an index to where it is filled from. The demo network is nobody else's and cannot follow. An index that follows does
 * so from its beginning and for good: what was merged here would stay in it although no other node has it.
 *
 * @param follows whether an upstream is set.
 * @throws UserError when the index is of the other kind.
 */
export function claimSource(db: IndexDatabase, { follows }: { follows: boolean }): void {
  if (follows && isDemo(db)) {
    throw new UserError(
      "this data directory holds the demo network, which cannot follow upstream.url. Use another data directory.",
    );
  }
  if (follows && !isFollowing(db) && !isEmpty(db)) {
    throw new UserError(
      "the index in this data directory was filled without an upstream, and may hold what upstream.url does not. Use another data directory, or delete the index (index.db), which is then filled anew.",
    );
  }
  if (!follows && isFollowing(db)) {
    throw new UserError(
      "the index in this data directory follows an upstream, and upstream.url is empty. Set it, or use another data directory.",
    );
  }
  if (follows && !isFollowing(db)) db.run(putMeta, "follows", "true");
}

/**
 * Whether nothing is lost when the node of this index begins with an empty state: the index is empty, or it is a demo's.
 * A state database is made before the first record comes into an index, so every other index had one.
 */
export function mayLackState(db: IndexDatabase): boolean {
  return isEmpty(db) || isDemo(db);
}

function isEmpty(db: IndexDatabase): boolean {
  const { messages, on_chain_events } = readTotals(db);
  return messages + on_chain_events === 0;
}

/** Notes that the index holds the demo network. */
export function markDemo(db: IndexDatabase): void {
  db.run(putMeta, "demo", "true");
}
