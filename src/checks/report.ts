import type { Severity } from "./check.ts";
import type { Incident, IncidentStore } from "./incident-store.ts";
import { checkOf } from "./table.ts";

const DAY_SECS = 86_400;
/** The days that a status page shows. */
const SHOWN_DAYS = 90;
/** Of incidents that were opened in these days: more are not shown. */
const MAX_SHOWN = 200;

/** An incident as pages and programs read it. Times are unix seconds. */
export interface IncidentReport {
  readonly id: string;
  readonly check: string;
  readonly title: string;
  /** Null for one of the state that nodes share. */
  readonly node: string | null;
  readonly severity: Severity;
  readonly state: "open" | "acknowledged" | "resolved";
  readonly sentence: string;
  readonly opened_at: number;
  readonly resolved_at: number | null;
  /** How often it opened again within half an hour. */
  readonly flaps: number;
  /** The operator's words about it. */
  readonly note: string | null;
}

/** What the operator sees of it as well. */
export interface OperatorIncident extends IncidentReport {
  readonly is_public: boolean;
  readonly remedy: string | null;
  readonly acked_at: number | null;
  readonly acked_by: string | null;
  readonly muted_until: number | null;
}

/** The worst that was open on a day. */
export type DayState = "ok" | Severity;

/** The incidents of the last 90 days. */
export interface IncidentsReport<Shown extends IncidentReport = IncidentReport> {
  readonly incidents: readonly Shown[];
  /** By the day in UTC, the oldest first, today last. */
  readonly days: readonly DayState[];
}

function reportOf(incident: Incident): IncidentReport {
  const { incidentId, checkId, nodeId, severity, sentence, openedAt, resolvedAt, ackedAt, flaps, note } =
    incident;
  return {
    id: incidentId,
    check: checkId,
    title: checkOf(checkId)?.title ?? checkId,
    node: nodeId || null,
    severity,
    state: resolvedAt !== null ? "resolved" : ackedAt !== null ? "acknowledged" : "open",
    sentence,
    opened_at: openedAt,
    resolved_at: resolvedAt,
    flaps,
    note,
  };
}

function operatorReportOf(incident: Incident): OperatorIncident {
  const check = checkOf(incident.checkId);
  return {
    ...reportOf(incident),
    is_public: check?.isPublic ?? false,
    remedy: check?.remedy ?? null,
    acked_at: incident.ackedAt,
    acked_by: incident.ackedBy,
    muted_until: incident.mutedUntil,
  };
}

const RANK: Readonly<Record<DayState, number>> = { ok: 0, notice: 1, warning: 2, critical: 3 };

/** The worst state of each day. */
function daysOf(incidents: readonly Incident[], nowSecs: number): DayState[] {
  const today = Math.floor(nowSecs / DAY_SECS);
  return Array.from({ length: SHOWN_DAYS }, (_, at) => {
    const from = (today - SHOWN_DAYS + 1 + at) * DAY_SECS;
    return incidents
      .filter(({ openedAt, resolvedAt }) => openedAt < from + DAY_SECS && (resolvedAt ?? nowSecs) >= from)
      .reduce<DayState>((worst, { severity }) => (RANK[severity] > RANK[worst] ? severity : worst), "ok");
  });
}

const read = (store: Pick<IncidentStore, "list">, nowSecs: number) =>
  store.list(nowSecs - SHOWN_DAYS * DAY_SECS, MAX_SHOWN);

/** All incidents. */
export async function operatorReport(
  store: Pick<IncidentStore, "list">,
  nowSecs: number,
): Promise<IncidentsReport<OperatorIncident>> {
  const all = await read(store, nowSecs);
  return { incidents: all.map(operatorReportOf), days: daysOf(all, nowSecs) };
}
