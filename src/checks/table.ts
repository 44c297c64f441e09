import type { Check } from "./check.ts";
import { networkRows } from "./rows/network-rows.ts";
import { nodeRows } from "./rows/node-rows.ts";
import { storageRows } from "./rows/storage-rows.ts";
import { workRows } from "./rows/work-rows.ts";

/** All checks, in the order of lists. Rows are added but never renamed, because incidents are stored under their ids. */
export const CHECK_TABLE: readonly Check[] = [...nodeRows, ...networkRows, ...storageRows, ...workRows];

const byId = new Map(CHECK_TABLE.map((check) => [check.id, check]));

/** Returns the row with an id; undefined for a check of another release. */
export function checkOf(id: string): Check | undefined {
  return byId.get(id);
}
