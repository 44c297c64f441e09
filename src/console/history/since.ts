import type { IncidentReport } from "../../checks/incident-report.ts";
import type { LanesPage } from "../../history/rpc.ts";
import type { Audience } from "./queries.ts";

/** Something that happened; the page puts it into words. */
export interface SinceLine {
  readonly key:
    | "incident_open"
    | "incident_resolved"
    | "crashed"
    | "restarted"
    | "upgraded"
    | "deliveries_failed"
    | "errors"
    | "backup"
    | "disk_days"
    | "quiet";
  readonly args: Readonly<Record<string, string | number>>;
  /** A link to the moment on the status page. */
  readonly link: string;
  /** Unix seconds. */
  readonly at: number;
}

const MAX_LINES = 6;
/** Only a disk that will be full within this time is news. */
const NEAR_DAYS = 30;
const SEVERITIES = ["critical", "warning", "notice"];

export interface SinceFacts {
  readonly from: number;
  readonly now: number;
  readonly page: LanesPage;
  /** Newest first. */
  readonly incidents: readonly IncidentReport[];
  /** Free bytes by hour, oldest first. */
  readonly disk: readonly (number | null)[];
  readonly audience: Audience;
}

/** Returns at most six lines, ordered by importance. If nothing happened, one line says so, with facts. */
export function linesSince({ from, now, page, incidents, disk, audience }: SinceFacts): SinceLine[] {
  const line = (key: SinceLine["key"], at: number, args: SinceLine["args"] = {}): SinceLine => ({
    key,
    at,
    args,
    link: linkTo(at),
  });
  const marks = page.marks.filter(({ at }) => at >= from);
  const isOperator = audience === "operator";
  const open = incidents
    .filter(({ resolved_at: resolvedAt }) => resolvedAt === null)
    .sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity))
    .map(({ title, severity, opened_at: at }) =>
      line("incident_open", at, { title, severity, secs: now - at }),
    );
  const resolved = incidents.flatMap(({ title, opened_at: at, resolved_at: end }) =>
    end === null || end < from ? [] : [line("incident_resolved", at, { title, secs: end - at })],
  );
  const crashes = marks.filter(({ kind }) => kind === "crash").map(({ at }) => line("crashed", at));
  const starts = marks.filter(({ kind }) => kind === "start");
  const lastStart = starts.at(-1);
  const restarted =
    lastStart && crashes.length === 0 && page.watched_since !== lastStart.at
      ? [line("restarted", lastStart.at, { count: starts.length })]
      : [];
  const upgraded = marks.flatMap(({ kind, at, detail }) => {
    const [before = "", after = ""] = detail.split(" ");
    return kind === "release" ? [line("upgraded", at, { before, after })] : [];
  });
  const failed = firstOf(page, "deliveries", "failed");
  const errors = firstOf(page, "errors", "5xx");
  const backupAt = marks.findLast(({ kind }) => kind === "backup")?.at;
  const days = daysLeft(disk);
  const news = [
    ...open,
    ...resolved.slice(0, 3),
    ...crashes.slice(-1),
    ...(failed ? [line("deliveries_failed", failed.at, { count: failed.count })] : []),
    ...(errors ? [line("errors", errors.at, { count: errors.count })] : []),
    ...(isOperator && days !== undefined && days < NEAR_DAYS ? [line("disk_days", now, { days })] : []),
    ...upgraded.slice(-1),
    ...restarted,
  ];
  const facts = {
    secs: now - Math.max(from, page.watched_since ?? from),
    ...(isOperator && backupAt !== undefined ? { backup_secs: now - backupAt } : {}),
    ...(isOperator && days !== undefined ? { disk_days: days } : {}),
  };
  if (news.length === 0) return [line("quiet", now, facts)];
  const backup =
    isOperator && backupAt !== undefined ? [line("backup", backupAt, { secs: now - backupAt })] : [];
  return [...news, ...backup].slice(0, MAX_LINES);
}

function linkTo(at: number): string {
  return `/console/status?at=${new Date(at * 1000).toISOString().slice(0, 16)}Z&w=1h`;
}

/** Returns how often a kind occurred, and in which bucket first. */
function firstOf(
  { from, bucket_secs: secs, lanes }: LanesPage,
  lane: string,
  kind: string,
): { readonly at: number; readonly count: number } | undefined {
  const counts = lanes[lane]?.[kind] ?? [];
  const first = counts.findIndex((count) => count > 0);
  if (first === -1) return undefined;
  return { at: from + first * secs, count: counts.reduce((sum, count) => sum + count, 0) };
}

/** Returns the days until the disk is full at the rate of these hours; undefined if it is not filling up. */
function daysLeft(disk: readonly (number | null)[]): number | undefined {
  const known = disk.filter((bytes) => bytes !== null);
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined || known.length < 6 || last >= first) return undefined;
  const perHour = (first - last) / (known.length - 1);
  return Math.floor(last / perHour / 24);
}
