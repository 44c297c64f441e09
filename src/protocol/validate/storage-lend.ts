import { invalid, type Rejection } from "../rejection.ts";
import { toFarcasterSecs } from "../time.ts";
import { type LendStorageBody, StorageUnitType } from "../wire/generated/message.ts";
import type { ValidationContext } from "./envelope.ts";
import { checkFid } from "./fields.ts";

const MAX_LENT_UNITS = 5000;
const MAX_AGE_SECS = 600;

/**
 * Validates a storage lend. `timestamp` is the message's, in Farcaster seconds. A lend that a client submits must be
 * recent: the revocation of an earlier lend (0 units) leaves no row, so nothing else would keep the old lend from
 * being replayed.
 */
export function validateLendStorage(
  body: LendStorageBody,
  timestamp: number,
  ctx: Pick<ValidationContext, "nowUnixSecs" | "isHistory">,
): Rejection | undefined {
  if (!ctx.isHistory && timestamp < toFarcasterSecs(ctx.nowUnixSecs) - MAX_AGE_SECS) {
    return invalid(`timestamp of a lend is more than ${MAX_AGE_SECS} seconds in the past`);
  }
  if (StorageUnitType[body.unitType] === undefined) return invalid("storage unit type is unknown");
  if (body.numUnits > MAX_LENT_UNITS) return invalid(`more than ${MAX_LENT_UNITS} units`);
  return checkFid(body.toFid, "to_fid");
}
