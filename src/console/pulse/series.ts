/** How a minute is made from its samples: their mean, or the highest of them where a short peak matters. */
type OfMinute = "mean" | "max";

/**
 * The series of the history that anybody may read: `/status` and `/metrics` tell them, too. Rates are over the time since the
 * last sample.
 */
export const PUBLIC_SERIES = {
  requests_per_second: "mean",
  errors_per_minute: "mean",
  refused_per_minute: "mean",
  p50_ms: "mean",
  p99_ms: "max",
  merged_per_second: "mean",
  ingest_queued: "max",
  outbox_events: "max",
  outbox_oldest_secs: "max",
  deliveries_waiting: "max",
  delivery_oldest_due_secs: "max",
  deliveries_per_second: "mean",
  campaigns: "max",
  pushes_per_second: "mean",
  writes_queued: "max",
  streams: "max",
  upstream_lag_secs: "max",
} as const satisfies Readonly<Record<string, OfMinute>>;

/** The series that only the operator reads. */
export const OPERATOR_SERIES = {
  cpu_percent: "mean",
  resident_bytes: "max",
  open_files: "max",
  unsent_bytes: "max",
  disk_free_bytes: "mean",
  index_bytes: "max",
  index_wal_bytes: "max",
  state_bytes: "max",
  state_wal_bytes: "max",
  state_waiting_writes: "max",
  loop_main_ms: "max",
  loop_http_ms: "max",
  loop_ingest_ms: "max",
  loop_hub_ms: "max",
  loop_state_ms: "max",
  loop_matching_ms: "max",
  loop_delivery_ms: "max",
  loop_fan_out_ms: "max",
  loop_writes_ms: "max",
  loop_upstream_ms: "max",
  loop_ranking_ms: "max",
  loop_maintenance_ms: "max",
} as const satisfies Readonly<Record<string, OfMinute>>;

const ALL_SERIES = { ...PUBLIC_SERIES, ...OPERATOR_SERIES };

export type SeriesName = keyof typeof ALL_SERIES;

export const SERIES_NAMES = Object.keys(ALL_SERIES) as readonly SeriesName[];
export const PUBLIC_NAMES = Object.keys(PUBLIC_SERIES) as readonly SeriesName[];

/** Whether a minute of a series shows its highest sample. */
export function isPeak(name: SeriesName): boolean {
  return ALL_SERIES[name] === "max";
}

/** The values of one sample; a series without a value is left out. */
export type Figures = Readonly<Partial<Record<SeriesName, number>>>;
