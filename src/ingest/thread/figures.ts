import { counters, figureOf, gauge } from "../../runtime/figures/figures.ts";
import type { WriterStats } from "./rpc.ts";

const figure = figureOf<WriterStats>();

const ageSecs = (at: number | null) => (at === null ? 0 : Math.max(0, Math.floor(Date.now() / 1000) - at));

export const ingestFigures = [
  figure({
    read: ({ size }) => size.bytes,
    metric: gauge(
      "index_bytes",
      "Bytes of the index that count towards index.max_bytes: its used pages and its write-ahead log.",
    ),
    status: "index.bytes",
  }),
  figure({
    read: ({ size }) => size.isFull,
    metric: gauge(
      "index_full",
      "1 while the index is at index.max_bytes, so that nothing more is merged, else 0.",
    ),
    status: "index.full",
  }),
  figure({
    read: ({ queuedRecords }) => queuedRecords,
    metric: gauge("ingest_queue_records", "Records that are queued for the writer."),
    status: "ingest.queued_records",
    history: {
      series: "ingest_queued",
      minute: "max",
      plot: { title: "Waiting", label: "messages", unit: "rate" },
      queue: { label: "Messages to index", words: "Accepted, and not yet in the index.", unit: "count" },
    },
  }),
  figure({
    read: ({ mergedRecords, refusedRecords }) => [
      [{ outcome: "merged" }, mergedRecords] as const,
      ...Object.entries(refusedRecords).map(([outcome, count]) => [{ outcome }, count] as const),
    ],
    metric: counters(
      "ingest_records_total",
      "Records that were submitted to the writer, by outcome: merged, or the code of the refusal.",
      ["outcome"],
    ),
  }),
  figure({
    read: ({ mergedRecords }) => mergedRecords,
    status: "ingest.merged_records",
    history: {
      series: "merged_per_second",
      minute: "mean",
      rate: 1,
      plot: { title: "Messages merged per second", label: "messages and events", unit: "rate" },
    },
  }),
  figure({ read: ({ refusedRecords }) => refusedRecords, status: "ingest.refused_records" }),
  figure({ read: ({ commits }) => commits, status: "ingest.commits" }),
  figure({
    read: ({ outbox }) => outbox.events,
    status: "webhooks.outbox_events",
    history: {
      series: "outbox_events",
      minute: "max",
      plot: { title: "Waiting", label: "events", unit: "rate" },
      queue: {
        label: "Events to publish",
        words: "Changes that webhooks have not been matched with.",
        unit: "count",
      },
    },
  }),
  figure({
    read: ({ outbox }) => outbox.oldestAt ?? 0,
    metric: gauge(
      "event_outbox_oldest_timestamp_seconds",
      "Time at which the oldest unpublished event was applied, in unix seconds; 0 if there is none.",
    ),
    status: ["webhooks.outbox_oldest_at", (at) => at || null],
    history: {
      series: "outbox_oldest_secs",
      minute: "max",
      of: (at) => ageSecs(at || null),
      queue: { label: "Oldest of them", words: "How long the first of these events waits.", unit: "secs" },
    },
  }),
];
