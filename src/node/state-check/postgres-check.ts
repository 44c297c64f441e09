import type { PgSettings } from "../../db/postgres/pools.ts";
import { liveNodes, onWholeState, raiseStateClock } from "../../db/postgres/whole-state.ts";
import { UserError } from "../../lib/failure.ts";
import { COUNTED, ENDED, recounts, type StateFinding } from "../state/verify.ts";

/** Returns inconsistencies in the state as of one moment. Nodes may run. */
export function checkPostgresState(settings: PgSettings): Promise<StateFinding[]> {
  return onWholeState(settings, async (runner) => {
    const findings: StateFinding[] = [];
    for (const { what, rows } of COUNTED) {
      const [counted] = await runner.runText(`SELECT count(*) AS n FROM ${rows}`);
      const n = Number(counted?.n ?? 0);
      if (n > 0) findings.push({ what, rows: n });
    }
    return findings;
  });
}

/**
 * Makes a state safe to use that was restored with PostgreSQL's tools: requests signed before are refused, claims and runs end, and
 * counters are recomputed.
 *
 * @throws UserError if nodes use the state.
 */
export async function settlePostgresState(
  settings: PgSettings,
  { nonceFloor }: { readonly nonceFloor: number },
): Promise<void> {
  await onWholeState(settings, async (runner) => {
    const nodes = await liveNodes(runner);
    if (nodes.length > 0)
      throw new UserError(
        `these nodes use the state: ${nodes.join(", ")}. Stop them, and try again in ten seconds.`,
      );
    await raiseStateClock(runner, { nowSecs: 0, nonceFloor });
    for (const sql of [...ENDED, "DELETE FROM leases", ...recounts("slot, ")]) await runner.runText(sql);
  });
}
