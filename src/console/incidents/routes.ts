import { Elysia } from "elysia";
import type { Thresholds } from "../../checks/check.ts";
import type { IncidentReport } from "../../checks/incident-report.ts";
import type { IncidentStore } from "../../checks/incident-store.ts";
import { publicReport } from "../../checks/report.ts";
import { ApiError } from "../../http/errors.ts";
import { oncePer } from "../../lib/promises.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";

/** Maximum age of a public report, so that any number of readers cost one read per interval. */
const REPORT_MS = 5_000;
const hidden = { detail: { hide: true } } as const;

export interface IncidentRoutesDeps {
  readonly incidents: Pick<IncidentStore, "list">;
  /** Whether anybody may read them. */
  readonly isPublic: boolean;
  readonly service: string;
  /** The URL under which users reach the service; if empty, that of the request. */
  readonly publicUrl: string;
  /** See `HistoryReads`. */
  readonly watchedSince: () => Promise<number>;
  readonly thresholds: Thresholds;
  readonly clock: Clock;
}

/** Serves the public part of the incidents: as JSON at `/status/incidents`, and as a feed at `/console/status.atom`. */
export function incidentRoutes(deps: IncidentRoutesDeps) {
  const { incidents, isPublic, service, publicUrl, watchedSince, thresholds, clock } = deps;
  const report = oncePer(REPORT_MS, async () =>
    publicReport(incidents, { nowSecs: nowSecs(clock), watchedSince: await watchedSince(), thresholds }),
  );
  const open = () => {
    if (!isPublic)
      throw new ApiError("notFound", "this node keeps its incidents to its operator: console.status");
    return report();
  };
  return new Elysia({ name: "incidents" })
    .get("/status/incidents", () => open(), hidden)
    .get(
      "/console/status.atom",
      async ({ request }) => {
        const { incidents: shown } = await open();
        const origin = publicUrl === "" ? new URL(request.url).origin : publicUrl;
        return new Response(
          atomFeed(shown, { service, page: `${origin}/console/status`, nowSecs: nowSecs(clock) }),
          {
            headers: { "content-type": "application/atom+xml; charset=utf-8", "cache-control": "no-cache" },
          },
        );
      },
      hidden,
    );
}

/** Writes incidents as an Atom feed (RFC 4287), in the given order. An entry is updated when its incident is resolved. */
export function atomFeed(
  incidents: readonly IncidentReport[],
  {
    service,
    page,
    nowSecs: now,
  }: { readonly service: string; readonly page: string; readonly nowSecs: number },
): string {
  const changedAt = ({ opened_at: openedAt, resolved_at: resolvedAt }: IncidentReport) =>
    resolvedAt ?? openedAt;
  const entries = incidents.map((incident) => {
    const { id, title, state, severity, sentence, note } = incident;
    const link = `${page}#${id}`;
    return `  <entry>
    <id>${xml(link)}</id>
    <title>${xml(`${title}: ${state}`)}</title>
    <link href="${xml(link)}"/>
    <published>${isoTime(incident.opened_at)}</published>
    <updated>${isoTime(changedAt(incident))}</updated>
    <category term="${severity}"/>
    <content type="text">${xml(note === null ? sentence : `${sentence}\n${note}`)}</content>
  </entry>
`;
  });
  const updated = incidents.length === 0 ? now : Math.max(...incidents.map(changedAt));
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>${xml(page)}</id>
  <title>${xml(`Incidents of ${service}`)}</title>
  <link href="${xml(page)}"/>
  <updated>${isoTime(updated)}</updated>
  <author><name>${xml(service)}</name></author>
${entries.join("")}</feed>
`;
}

function isoTime(unixSecs: number): string {
  return new Date(unixSecs * 1000).toISOString();
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Escapes a text for XML 1.0, which allows no control characters except white space. */
function xml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replaceAll(/[&<>"]/g, (char) => ESCAPES[char] ?? char);
}
