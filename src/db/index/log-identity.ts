import type { IndexDatabase } from "./database.ts";
import { readMeta, writeMeta } from "./meta.ts";

const LOG_ID = "log id";
const RESERVED = "log reserved height";
const RESERVING = "log reserving height";

/** Properties of one index file. A copy with them would give its own events the numbers of other events. */
export const LOG_PROPERTIES = [LOG_ID, RESERVED, RESERVING] as const;

/** The id of the logs of this index; undefined until a node has served it. */
export function logIdOf(db: IndexDatabase): string | undefined {
  return readMeta(db, LOG_ID);
}

/** Whether the state's reserved height is one that this index has seen, or that was on its way when the node stopped. */
export function hasSeenReservedHeight(db: IndexDatabase, height: number): boolean {
  return [readMeta(db, RESERVED), readMeta(db, RESERVING)].includes(String(height));
}

/** Records the height that is about to be reserved in the state, for the logs of this id. */
export function startReservingHeight(db: IndexDatabase, logId: string, height: number): void {
  writeMeta(db, LOG_ID, logId);
  writeMeta(db, RESERVING, String(height));
}

/** Records the height that the state has reserved. */
export function markHeightReserved(db: IndexDatabase, height: number): void {
  writeMeta(db, RESERVED, String(height));
}
