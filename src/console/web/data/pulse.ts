import { type Query, useQuery } from "./query.ts";

/** What `/console/api/pulse` says of the node; made once a second. */
export interface Pulse {
  readonly version: string;
  readonly network: string;
  readonly demo: boolean;
  readonly ready: boolean;
  /** Why the node is not ready. */
  readonly reason: string | null;
  readonly counts: Readonly<Record<string, number>>;
  readonly merged_per_second: number;
  readonly requests_per_second: number;
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
  readonly history: { readonly step_secs: number; readonly merged: readonly number[] };
}

const EVERY_MS = 5000;

/** The state of the node, asked for every 5 seconds while the tab is shown. */
export const usePulse = (): Query<Pulse> =>
  useQuery<Pulse>({ method: "GET", path: "/console/api/pulse" }, { everyMs: EVERY_MS });
