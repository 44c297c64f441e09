import type { MessageOutcome } from "../outcome.ts";
import type { Lease, Settlement } from "./write-store.ts";

type Result = Settlement["result"];

/** Whether a message stays in the queue. */
export function isQueued(result: Result): result is Extract<Result, { kind: "again" }> {
  return result.kind === "again";
}

/** Returns what settlements mean for the outcomes of their call, by position. */
export function decidedBy(
  settlements: readonly Settlement[],
): ReadonlyMap<number, Pick<MessageOutcome, "state" | "refusal">> {
  return new Map(settlements.map(({ lease, result }) => [lease.position, decided(result)]));
}

function decided(result: Result): Pick<MessageOutcome, "state" | "refusal"> {
  switch (result.kind) {
    case "merged":
      return { state: "merged" };
    case "again":
      return { state: "queued" };
    case "refused":
      return { state: "refused", refusal: result.refusal };
  }
}

/** Returns the outcomes of a call whose messages are submitted again. */
export function reopened(
  outcomes: readonly MessageOutcome[],
  leases: readonly Pick<Lease, "position">[],
): readonly MessageOutcome[] {
  const positions = new Set(leases.map(({ position }) => position));
  return outcomes.map((outcome, at) => (positions.has(at) ? { ...outcome, state: "pending" } : outcome));
}

/** The outcomes of a call as they are stored. */
export function readOutcomes(json: string): readonly MessageOutcome[] {
  return JSON.parse(json);
}
