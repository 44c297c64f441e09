import type { VerifyConnection } from "../../db/postgres/driver.ts";
import type { StateNode } from "../../db/state/state-db.ts";
import { StateUnavailable } from "../../db/state/unavailable.ts";
import type { NodeSignals } from "../node-signals.ts";
import { readMark } from "./node-rows.ts";

/**
 * Creates the check of a new connection: it refuses a state that is older than the node's last beat, or on another server. The next beat
 * refuses requests that were signed before it; until then nothing is decided on that state, so no request is executed twice.
 */
export function verifyState(
  { nodeId, bootId }: StateNode,
  signals: Pick<NodeSignals, "stateMark">,
): VerifyConnection {
  return async (runner) => {
    const known = signals.stateMark;
    if (known === undefined) return;
    const [row] = (await runner.run(readMark, [nodeId, bootId])).rows;
    const isCurrent =
      row !== undefined &&
      row.beat !== null &&
      row.beat >= known.beat &&
      row.systemIdentifier === known.systemIdentifier &&
      row.timeline === known.timeline;
    if (!isCurrent)
      throw new StateUnavailable("the state may have gone back to an earlier time", {
        mayHaveHappened: false,
      });
  };
}
