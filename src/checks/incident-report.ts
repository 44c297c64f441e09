import type { Severity } from "./check.ts";

/** An incident as pages and programs read it. Times are in Unix seconds. */
export interface IncidentReport {
  readonly id: string;
  readonly check: string;
  readonly title: string;
  /** Null for an incident of the state that nodes share. */
  readonly node: string | null;
  readonly severity: Severity;
  readonly state: "open" | "acknowledged" | "resolved";
  readonly sentence: string;
  /** When it resolves, as a sentence; null for a resolved one, and for a check of another release. */
  readonly resolution: string | null;
  readonly opened_at: number;
  readonly resolved_at: number | null;
  /** How often it reopened within half an hour. */
  readonly flaps: number;
  /** The operator's note. */
  readonly note: string | null;
}

/** Fields that only the operator sees. */
export interface OperatorIncident extends IncidentReport {
  readonly is_public: boolean;
  readonly remedy: string | null;
  readonly acked_at: number | null;
  readonly acked_by: string | null;
  readonly muted_until: number | null;
  /** Owner of the record it concerns; null for an incident of a node or of the shared state. */
  readonly owner_fid: number | null;
}

/** The worst state on a day; `unknown` before anything watched the node. */
export type DayState = "unknown" | "ok" | Severity;

/** The incidents of the last 90 days. */
export interface IncidentsReport<Shown extends IncidentReport = IncidentReport> {
  readonly incidents: readonly Shown[];
  /** By UTC day, oldest first, today last. */
  readonly days: readonly DayState[];
}
