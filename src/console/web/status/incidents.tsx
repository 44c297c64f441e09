import type { ComponentChildren } from "preact";
import type { DayState, IncidentReport, IncidentsReport } from "../../../checks/incident-report.ts";
import { useCheckTexts } from "../content/check-texts.ts";
import type { Call } from "../data/call.ts";
import { useQuery } from "../data/query.ts";
import { useOwnIncidents } from "../notices/own-incidents.ts";
import { pageConfig } from "../page-config.ts";
import { Pill, Time } from "../parts/pill.tsx";
import { Region, type RegionQuery } from "../parts/region.tsx";
import * as msg from "../text/en/incidents.ts";
import { formatSecs, saidIn, saidWith } from "../text/format.ts";

const EVERY_MS = 15_000;
/** How many resolved incidents are shown; the rest are folded. */
const MAX_RESOLVED = 3;
const MAX_FOLDED = 50;

const CALL: Call<IncidentsReport> = { method: "GET", path: "/status/incidents" };

const KINDS = { critical: "bad", warning: "warn", notice: "acc" } as const;

function StatePill({ incident: { state, severity } }: { incident: IncidentReport }) {
  if (state === "resolved") return <Pill kind="ok">{msg.resolved}</Pill>;
  if (state === "acknowledged") return <Pill kind="acc">{msg.acknowledged}</Pill>;
  return <Pill kind={KINDS[severity]}>{msg.open}</Pill>;
}

/** An incident: what is wrong, since when, and the operator's note. */
export function IncidentRow({
  incident,
  children,
}: {
  incident: IncidentReport;
  children?: ComponentChildren;
}) {
  const {
    id,
    title,
    severity,
    node,
    sentence,
    resolution,
    note,
    flaps,
    opened_at: openedAt,
    resolved_at: resolvedAt,
  } = incident;
  const texts = useCheckTexts();
  return (
    <article class="incident stack tight" id={id}>
      <div class="row wrap">
        <h3 class="grow">{saidIn(msg.TITLES, title)}</h3>
        <StatePill incident={incident} />
        <span class="dim s">{msg.SEVERITIES[severity]}</span>
      </div>
      <p>
        <bdi>{saidWith(texts, sentence)}</bdi>
      </p>
      {resolution !== null && <p class="s dim">{saidWith(texts, resolution)}</p>}
      {note !== null && (
        <p class="user measure said">
          <bdi>{note}</bdi>
        </p>
      )}
      <p class="s dim">
        <Time ago at={openedAt} />
        {resolvedAt !== null && msg.lasted(formatSecs(resolvedAt - openedAt))}
        {flaps > 0 && msg.openedAgain(flaps)}
        {node !== null && msg.onNode(<bdi>{node}</bdi>)}
      </p>
      {children}
    </article>
  );
}

/** Returns the days on which the node was monitored. */
const watched = (days: readonly DayState[]) => days.filter((day) => day !== "unknown");

/** The worst state of each of the last 90 days as bars: the taller, the worse. Days before the node was monitored are empty. */
function Days({ days }: { days: readonly DayState[] }) {
  const bad = days.filter((day) => day === "critical" || day === "warning").length;
  return (
    <div class="pad stack tight">
      <div class="days" role="img" aria-label={msg.daysWithIncidents(bad, watched(days).length)}>
        {days.map((day, at) => (
          <i class={day} key={at} />
        ))}
      </div>
      <p class="row s dim">
        <span class="grow">{msg.daysAgo(days.length - 1)}</span>
        <span>{msg.today}</span>
      </p>
    </div>
  );
}

/**
 * The open incidents, the last resolved ones, and the days. `isPublic`: whether only public incidents are shown. `actions`: what the
 * reader may do with one.
 */
export function IncidentsCard<Shown extends IncidentReport>({
  query,
  isPublic = false,
  aside,
  actions,
}: {
  query: RegionQuery<IncidentsReport<Shown>>;
  isPublic?: boolean;
  /** Shown next to the number of open ones. */
  aside?: ComponentChildren;
  actions?: (incident: Shown) => ComponentChildren;
}) {
  const openCount = query.data?.incidents.filter(({ state }) => state !== "resolved").length;
  return (
    <Region
      title={msg.incidents}
      call={undefined}
      query={query}
      aside={
        openCount !== undefined && (
          <>
            <Pill kind={openCount === 0 ? "ok" : "warn"}>
              {isPublic ? msg.publicly(msg.openIncidents(openCount)) : msg.openIncidents(openCount)}
            </Pill>
            {aside}
          </>
        )
      }
    >
      {({ incidents, days }) => {
        const open = incidents.filter(({ state }) => state !== "resolved");
        const ended = incidents.filter(({ state }) => state === "resolved");
        const row = (incident: Shown) => (
          <IncidentRow incident={incident} key={incident.id}>
            {incident.state !== "resolved" && actions?.(incident)}
          </IncidentRow>
        );
        return (
          <>
            {incidents.length === 0 && (
              <p class="pad dim">
                {(isPublic ? msg.noPublicIncidents : msg.noIncidents)(watched(days).length)}
              </p>
            )}
            {open.map(row)}
            {ended.slice(0, MAX_RESOLVED).map(row)}
            {ended.length > MAX_RESOLVED && (
              <details class="pad">
                <summary>{msg.earlier(ended.length - MAX_RESOLVED)}</summary>
                {ended.slice(MAX_RESOLVED, MAX_RESOLVED + MAX_FOLDED).map(row)}
              </details>
            )}
            <Days days={days} />
          </>
        );
      }}
    </Region>
  );
}

/** Returns the public incidents. */
export const usePublicIncidents = (): RegionQuery<IncidentsReport> =>
  useQuery(pageConfig.incidents ? CALL : undefined, { everyMs: EVERY_MS });

/** The public incidents. Owners also see how many of their own are open, which are on another page. */
export function PublicIncidents() {
  const query = usePublicIncidents();
  const { data: own } = useOwnIncidents();
  const ownCount = own?.incidents.filter(({ state }) => state !== "resolved").length ?? 0;
  return (
    <IncidentsCard
      query={query}
      isPublic
      aside={
        own && (
          <a href="/console/manage/notices">
            <Pill kind={ownCount === 0 ? "ok" : "warn"}>{msg.yours(msg.openIncidents(ownCount))}</Pill>
          </a>
        )
      }
    />
  );
}
