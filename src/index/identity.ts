import { UserError } from "../lib/failure.ts";
import type { IndexDatabase } from "./database.ts";
import { statement } from "./statement.ts";

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

/** Notes that the index holds the demo network. */
export function markDemo(db: IndexDatabase): void {
  db.run(putMeta, "demo", "true");
}
