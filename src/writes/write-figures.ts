import { counterBy, figureOf, gauge } from "../runtime/figures/figures.ts";
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

/** The stats of a thread that has not started: no message waits for the network. */
export const WRITES_AT_REST: WritesStats = {
  ...new WriteCounters().read(),
  queue: { count: 0, oldestAt: null },
};

const figure = figureOf<WritesStats>();

export const writeFigures = [
  figure({
    read: ({ queue }) => queue?.count ?? null,
    metric: gauge("writes_queued", "Messages that wait for the network."),
    status: "writes.queued",
    history: {
      series: "writes_queued",
      minute: "max",
      queue: {
        label: "Pending writes",
        words: "Signed messages that the network has not confirmed.",
        unit: "count",
      },
    },
  }),
  figure({
    read: ({ queue }) => queue?.oldestAt ?? null,
    metric: gauge(
      "writes_oldest_queued_timestamp_seconds",
      "When the oldest of them was written; no value without one.",
    ),
    status: "writes.oldest_queued_at",
  }),
  figure({ read: ({ underWay }) => underWay, status: "writes.under_way" }),
  figure({
    read: ({ answered }) => answered,
    metric: counterBy("outcome", "writes_messages_total", "Messages of writes by response."),
    status: "writes.answered",
  }),
  figure({ read: ({ replayed }) => replayed, status: "writes.replayed" }),
  figure({ read: ({ resubmitted }) => resubmitted, status: "writes.resubmitted" }),
  figure({
    read: ({ mergedLater, refusedLater }) => ({ merged: mergedLater, refused: refusedLater }),
    metric: counterBy(
      "state",
      "writes_ended_total",
      "Queued messages that have ended after their response, by state.",
    ),
  }),
  figure({ read: ({ mergedLater }) => mergedLater, status: "writes.merged_later" }),
  figure({ read: ({ refusedLater }) => refusedLater, status: "writes.refused_later" }),
];
