import type { Thresholds } from "./check.ts";
import type { DayState, IncidentReport, IncidentsReport, OperatorIncident } from "./incident-report.ts";
import type { Incident, IncidentStore } from "./incident-store.ts";
import { ownerCheckOf } from "./owners/owner-table.ts";
import { type OwnContext, resolutionOf, resolutionOfOwn } from "./resolution.ts";
import { checkOf } from "./table.ts";

const DAY_SECS = 86_400;
/** Number of days that a status page shows. */
export const SHOWN_DAYS = 90;
/** Maximum number of incidents opened in these days that are shown. */
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

/** Returns an incident as the owner of its record sees it, without the operator's note. */
export async function ownReportOf(incident: Incident, context: OwnContext): Promise<IncidentReport> {
  return withProgress(incident, { ...reportOf(incident, context.thresholds), note: null }, context);
}

/** Adds the progress of the record to the report of an owner's open incident. */
async function withProgress<Report extends IncidentReport>(
  incident: Incident,
  report: Report,
  context: OwnContext,
): Promise<Report> {
  if (incident.resolvedAt !== null) return report;
  return { ...report, resolution: await resolutionOfOwn(incident, context) };
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

/** Returns the worst state of each day. A day before the node was watched is only known by its incidents. */
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

/** Context of a report. */
export interface ReportContext {
  readonly nowSecs: number;
  /** Since when the node has been watched, in Unix seconds. */
  readonly watchedSince: number;
  /** The thresholds of the checks, which determine when an incident resolves. */
  readonly thresholds: Thresholds;
}

/** Returns what is public: incidents of public checks. */
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

/** Returns all incidents of the nodes. */
export async function nodeIncidents(
  store: Pick<IncidentStore, "list">,
  { nowSecs, thresholds }: Pick<ReportContext, "nowSecs" | "thresholds">,
): Promise<readonly OperatorIncident[]> {
  return (await read(store, nowSecs)).map((incident) => operatorReportOf(incident, thresholds));
}

/** Returns all incidents of the nodes, like `publicReport`, then the open ones of owners, which are not listed by day. */
export async function operatorReport(
  store: Pick<IncidentStore, "list" | "openOfOwners">,
  context: ReportContext & OwnContext,
): Promise<IncidentsReport<OperatorIncident>> {
  const { nowSecs, watchedSince, thresholds } = context;
  const [all, open] = await Promise.all([read(store, nowSecs), store.openOfOwners()]);
  const shown = open.toSorted((a, b) => b.openedAt - a.openedAt).slice(0, MAX_OWNERS_SHOWN);
  const own = await Promise.all(
    shown.map((incident) => withProgress(incident, operatorReportOf(incident, thresholds), context)),
  );
  return {
    incidents: [...all.map((incident) => operatorReportOf(incident, thresholds)), ...own],
    days: daysOf(all, nowSecs, watchedSince),
  };
}
