import type { Thresholds } from "./check.ts";
import type { DayState, IncidentReport, IncidentsReport, OperatorIncident } from "./incident-report.ts";
import type { Incident, IncidentStore } from "./incident-store.ts";
import { ownerCheckOf } from "./owners/owner-table.ts";
import { resolutionOf } from "./resolution.ts";
import { checkOf } from "./table.ts";

const DAY_SECS = 86_400;
/** The days that a status page shows. */
export const SHOWN_DAYS = 90;
/** Of incidents that were opened in these days: more are not shown. */
const MAX_SHOWN = 200;
const MAX_OWNERS_SHOWN = 100;

function reportOf(incident: Incident, thresholds: Thresholds): IncidentReport {
  const { incidentId, checkId, nodeId, severity, sentence, openedAt, resolvedAt, ackedAt, flaps, note } =
    incident;
  const isOwners = incident.ownerFid > 0;
  return {
    id: incidentId,
    check: checkId,
    title: (ownerCheckOf(checkId) ?? checkOf(checkId))?.title ?? checkId,
    node: (!isOwners && nodeId) || null,
    severity,
    state: resolvedAt !== null ? "resolved" : ackedAt !== null ? "acknowledged" : "open",
    sentence,
    resolution: resolvedAt === null ? resolutionOf(checkId, thresholds) : null,
    opened_at: openedAt,
    resolved_at: resolvedAt,
    flaps,
    note,
  };
}

/** An incident as the owner of its record sees it: without what the operator wrote. */
export function ownReportOf(incident: Incident, thresholds: Thresholds): IncidentReport {
  return { ...reportOf(incident, thresholds), note: null };
}

function operatorReportOf(incident: Incident, thresholds: Thresholds): OperatorIncident {
  const check = ownerCheckOf(incident.checkId) ?? checkOf(incident.checkId);
  return {
    ...reportOf(incident, thresholds),
    is_public: check?.isPublic ?? false,
    remedy: check?.remedy ?? null,
    acked_at: incident.ackedAt,
    acked_by: incident.ackedBy,
    muted_until: incident.mutedUntil,
    owner_fid: incident.ownerFid || null,
  };
}

const RANK: Readonly<Record<DayState, number>> = { unknown: 0, ok: 1, notice: 2, warning: 3, critical: 4 };

/** The worst state of each day. A day before the node was watched is only known by its incidents. */
function daysOf(incidents: readonly Incident[], nowSecs: number, watchedSince: number): DayState[] {
  const today = Math.floor(nowSecs / DAY_SECS);
  return Array.from({ length: SHOWN_DAYS }, (_, at) => {
    const from = (today - SHOWN_DAYS + 1 + at) * DAY_SECS;
    return incidents
      .filter(({ openedAt, resolvedAt }) => openedAt < from + DAY_SECS && (resolvedAt ?? nowSecs) >= from)
      .reduce<DayState>(
        (worst, { severity }) => (RANK[severity] > RANK[worst] ? severity : worst),
        from + DAY_SECS > watchedSince ? "ok" : "unknown",
      );
  });
}

const read = (store: Pick<IncidentStore, "list">, nowSecs: number) =>
  store.list(nowSecs - SHOWN_DAYS * DAY_SECS, MAX_SHOWN);

/** What a report is made with. */
export interface ReportContext {
  readonly nowSecs: number;
  /** Since when the node is watched, unix seconds. */
  readonly watchedSince: number;
  /** The lines of the checks, which say when an incident resolves. */
  readonly thresholds: Thresholds;
}

/** What anyone may know: incidents of public checks. */
export async function publicReport(
  store: Pick<IncidentStore, "list">,
  { nowSecs, watchedSince, thresholds }: ReportContext,
): Promise<IncidentsReport> {
  const shown = (await read(store, nowSecs)).filter(({ checkId }) => checkOf(checkId)?.isPublic);
  return {
    incidents: shown.map((incident) => reportOf(incident, thresholds)),
    days: daysOf(shown, nowSecs, watchedSince),
  };
}

/** All incidents of the nodes, as `publicReport`, then the open ones of owners, which are on no day. */
export async function operatorReport(
  store: Pick<IncidentStore, "list" | "openOfOwners">,
  { nowSecs, watchedSince, thresholds }: ReportContext,
): Promise<IncidentsReport<OperatorIncident>> {
  const [all, open] = await Promise.all([read(store, nowSecs), store.openOfOwners()]);
  const own = open.toSorted((a, b) => b.openedAt - a.openedAt).slice(0, MAX_OWNERS_SHOWN);
  return {
    incidents: [...all, ...own].map((incident) => operatorReportOf(incident, thresholds)),
    days: daysOf(all, nowSecs, watchedSince),
  };
}
