import type { OutcomeCount } from "./campaign-store.ts";

/** Reasons that were renamed: campaigns that were stored before have the former ones, until their retention ends. */
const RENAMED_REASONS: ReadonlyMap<string, string> = new Map([
  ["answer_too_large", "response_too_large"],
  ["malformed_answer", "malformed_response"],
  ["not_in_answer", "missing_from_response"],
]);

/** Renames former reasons; counts of a campaign that has both names of a reason are added up. */
export function withCurrentReasons<Count extends Omit<OutcomeCount, "host"> & { readonly host?: string }>(
  counts: readonly Count[],
): Count[] {
  const merged = new Map<string, Count>();
  for (const stored of counts) {
    const reason = RENAMED_REASONS.get(stored.reason) ?? stored.reason;
    const key = JSON.stringify([stored.host, stored.kind, reason]);
    const count = stored.count + (merged.get(key)?.count ?? 0);
    merged.set(key, { ...stored, reason, count });
  }
  return [...merged.values()];
}
