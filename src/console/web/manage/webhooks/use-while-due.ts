import { useEffect, useState } from "preact/hooks";
import type { SignedCall } from "../../owner/session-request.ts";
import { type OwnerQuery, useOwnerQuery } from "../../owner/use-owner-query.ts";

/** While something waits for a call, pages ask this often. */
export const DUE_MS = 3_000;

/** A read of the owner that is repeated faster while something is due. */
export function useWhileDue<T>(
  call: SignedCall,
  isDue: (data: T) => boolean,
  idleMs?: number,
): OwnerQuery<T> {
  const [isFast, setFast] = useState(false);
  const query = useOwnerQuery<T>(call, { everyMs: isFast ? DUE_MS : idleMs });
  const isNow = query.data !== undefined && isDue(query.data);
  useEffect(() => setFast(isNow), [isNow]);
  return query;
}
