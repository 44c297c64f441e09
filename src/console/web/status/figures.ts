import { formatCount, formatDuration, formatSecs } from "../data/format.ts";

/** Where a node waits: each line is a figure of the history, in words. */
export interface QueueFigure {
  readonly name: string;
  readonly label: string;
  /** What it means when it grows. */
  readonly words: string;
  readonly format: (value: number) => string;
}

/** A rate with the digits that matter. */
export const formatRate = (value: number): string =>
  value !== 0 && Math.abs(value) < 10 ? value.toFixed(1) : formatCount(Math.round(value));

/** A part of a hundred, with the digits that matter. */
export const formatPercent = (percent: number): string => `${formatRate(percent)} %`;

export const formatMs = (ms: number): string => (ms === 0 ? "0 ms" : formatDuration(ms));

export const QUEUES: readonly QueueFigure[] = [
  {
    name: "upstream_lag_secs",
    label: "Behind the followed node",
    words: "How old the newest block here is.",
    format: formatSecs,
  },
  {
    name: "ingest_queued",
    label: "Records to merge",
    words: "Accepted, and not yet in the index.",
    format: formatCount,
  },
  {
    name: "outbox_events",
    label: "Events to publish",
    words: "Changes that webhooks have not been matched with.",
    format: formatCount,
  },
  {
    name: "outbox_oldest_secs",
    label: "Oldest of them",
    words: "How long the first of these events waits.",
    format: formatSecs,
  },
  {
    name: "deliveries_waiting",
    label: "Deliveries to webhooks",
    words: "Queued, also those that wait for their next try.",
    format: formatCount,
  },
  {
    name: "delivery_oldest_due_secs",
    label: "Oldest that is due",
    words: "How long a delivery waits although its time has come.",
    format: formatSecs,
  },
  {
    name: "campaigns",
    label: "Notification campaigns",
    words: "Running or waiting to run.",
    format: formatCount,
  },
  {
    name: "writes_queued",
    label: "Writes on their way",
    words: "Signed messages that the network has not confirmed.",
    format: formatCount,
  },
  { name: "streams", label: "Open streams", words: "Readers of live events.", format: formatCount },
];
