import type { CustodyOf } from "../auth/custody.ts";
import type { ApiKey } from "./api-key-store.ts";

/**
 * Returns why a key does not act for its owner; null while it does. A key belongs to the custody address that made it, so it stops
 * with a transfer of the fid until the new custody activates it. An fid that the index does not know yet says nothing about that.
 */
export function inactiveReason(
  { active, custody, ownerFid }: Pick<ApiKey, "active" | "custody" | "ownerFid">,
  custodyOf: CustodyOf,
): string | null {
  if (!active) return "deactivated";
  const current = custodyOf(ownerFid);
  return current === undefined || Buffer.compare(current, custody) === 0 ? null : "custody changed";
}
