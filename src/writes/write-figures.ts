import { counterBy, figureOf, gauge } from "../runtime/figures.ts";
import type { WritesStats } from "./rpc.ts";

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
    metric: counterBy("outcome", "writes_messages_total", "Messages of writes by what was answered."),
    status: "writes.answered",
  }),
  figure({ read: ({ replayed }) => replayed, status: "writes.replayed" }),
  figure({ read: ({ resubmitted }) => resubmitted, status: "writes.resubmitted" }),
  figure({
    read: ({ mergedLater, refusedLater }) => ({ merged: mergedLater, refused: refusedLater }),
    metric: counterBy(
      "state",
      "writes_ended_total",
      "Queued messages that have ended after their answer, by state.",
    ),
  }),
  figure({ read: ({ mergedLater }) => mergedLater, status: "writes.merged_later" }),
  figure({ read: ({ refusedLater }) => refusedLater, status: "writes.refused_later" }),
];
