import type { MessageOutcome } from "./outcome.ts";
import type { WriteReply, WritesStats } from "./rpc.ts";

/** Counts writes by their outcome. */
export class WriteCounters {
  readonly #answered = { merged: 0, queued: 0, unchanged: 0, refused: 0 };
  replayed = 0;
  resubmitted = 0;
  mergedLater = 0;
  refusedLater = 0;
  underWay = 0;

  countReply(reply: WriteReply): void {
    if (!reply.ok) this.#answered.refused += 1;
    else if (reply.replayed) this.replayed += 1;
    else for (const { state } of reply.outcomes) this.#count(state);
  }

  read(): Omit<WritesStats, "queue"> {
    const { replayed, resubmitted, mergedLater, refusedLater, underWay } = this;
    return { answered: { ...this.#answered }, replayed, resubmitted, mergedLater, refusedLater, underWay };
  }

  #count(state: MessageOutcome["state"]): void {
    if (state !== "pending" && state !== "skipped") this.#answered[state] += 1;
  }
}
