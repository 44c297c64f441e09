import type { StateDatabase } from "../../src/state/database.ts";
import { createLocalStores } from "../../src/state/sqlite/local-stores.ts";

/** More than any test queues for one webhook. */
const MAX_QUEUED = 1_000_000;

const opened = new WeakMap<StateDatabase, ReturnType<typeof createLocalStores>>();

/** The stores over a connection, with the writer in this thread: the same ones for the same connection. */
export function localStores(
  db: StateDatabase,
  limits = { maxQueued: MAX_QUEUED },
): ReturnType<typeof createLocalStores> {
  const known = opened.get(db) ?? createLocalStores(db, limits);
  opened.set(db, known);
  return known;
}
