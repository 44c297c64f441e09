import type { EventFacts } from "./facts.ts";
import type { MatchResult } from "./match-service.ts";
import type { MatchClient } from "./rpc.ts";

/** Matches events, at least the first one. One that cannot be matched has no receivers, so that it does not stop all others. */
export async function matchFacts(matching: MatchClient, facts: readonly EventFacts[]): Promise<MatchResult> {
  try {
    return await matching.match(facts);
  } catch {
    try {
      return await matching.match(facts.slice(0, 1));
    } catch {
      return { matches: [[]], refused: [] };
    }
  }
}
