import type { Thresholds } from "../../checks/check.ts";
import type { IncidentStore } from "../../checks/incident-store.ts";
import { nodeIncidents, publicReport } from "../../checks/report.ts";
import { isTooFine, MAX_POINTS } from "../../history/read-figures.ts";
import type { FiguresPage, LanesQuery } from "../../history/rpc.ts";
import { ApiError } from "../../http/errors.ts";
import type { RpcClient } from "../../lib/port-rpc.ts";
import type { Result } from "../../lib/result.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { PulseRpc } from "../pulse/pulse.ts";
import type { Audience, FiguresRequest, HistoryQueries } from "./queries.ts";
import { linesSince, type SinceLine } from "./since.ts";

/** Figures of the node, and whether they can still change. */
export interface FiguresResponse {
  readonly page: FiguresPage & { readonly node: string; readonly nodes: readonly string[] };
  readonly isClosed: boolean;
}

/** Reads of the history for one audience. */
export type HistoryReads = ReturnType<typeof createHistoryReads>;

export interface HistoryReadsDeps {
  readonly node: RpcClient<HistoryQueries & Pick<PulseRpc, "pulse">>;
  readonly incidents: Pick<IncidentStore, "list">;
  /** Whether incidents are public. */
  readonly showsIncidents: boolean;
  readonly thresholds: Thresholds;
  readonly nodeId: string;
  readonly clock: Clock;
}

/** Rows arrive once a minute. */
const CLOSED_SECS = 180;
/** The longest range: hourly rows are kept for two years. */
const MAX_RANGE_SECS = 800 * 86_400;
const DAY_SECS = 86_400;

export function createHistoryReads(deps: HistoryReadsDeps, audience: Audience) {
  const { node, incidents, showsIncidents, thresholds, nodeId, clock } = deps;
  const lanes = async (query: LanesQuery) => {
    requireRange(query);
    return { node: nodeId, ...unwrapHistory(await node.historyLanes(query, audience)) };
  };
  const incidentsOf = async (now: number) => {
    const context = { nowSecs: now, watchedSince: 0, thresholds };
    if (audience === "operator") return nodeIncidents(incidents, context);
    return showsIncidents ? (await publicReport(incidents, context)).incidents : [];
  };
  return {
    async figures(request: FiguresRequest): Promise<FiguresResponse> {
      requireRange(request);
      const { from, to, step } = request;
      if (step !== "auto" && isTooFine(from, to, step))
        throw new ApiError("badRequest", `step ${step} gives this range more than ${MAX_POINTS} points`);
      const other = request.node === nodeId ? undefined : request.node;
      const nodes = await node.historyNodes();
      if (other !== undefined && !nodes.includes(other))
        throw new ApiError("notFound", "no figures of this node");
      const page = unwrapHistory(await node.historyFigures({ ...request, node: other }, audience));
      return {
        page: { node: other ?? nodeId, nodes, ...page },
        isClosed: to < nowSecs(clock) - CLOSED_SECS - page.step,
      };
    },
    lanes,
    /** Returns what has happened since a time (unix seconds), most important first. */
    async since(at: number): Promise<{ readonly node: string; readonly lines: readonly SinceLine[] }> {
      const now = nowSecs(clock);
      const from = Math.max(at, now - 90 * DAY_SECS);
      const [page, shown, disk] = await Promise.all([
        lanes({ from, to: now + 1, buckets: 24 }),
        incidentsOf(now),
        audience === "operator" ? diskOf(node, now) : [],
      ]);
      return { node: nodeId, lines: linesSince({ from, now, page, incidents: shown, disk, audience }) };
    },
    /** Returns since when the node is monitored, unix seconds: from its history, or else since its start. */
    async watchedSince(): Promise<number> {
      const now = nowSecs(clock);
      const page = await node.historyLanes({ from: now - 1, to: now, buckets: 1 }, audience);
      if (page.ok && page.value.watched_since !== null) return page.value.watched_since;
      return now - (await node.pulse()).uptime_secs;
    },
  };
}

function requireRange({ from, to }: { readonly from: number; readonly to: number }): void {
  if (from >= to) throw new ApiError("badRequest", "from must be before to");
  if (to - from > MAX_RANGE_SECS) throw new ApiError("badRequest", "the range must be at most 800 days");
}

/** @throws ApiError `notFound` if there is no history, `unavailable` while its file cannot be used */
export function unwrapHistory<T>(result: Result<T, string>): T {
  if (result.ok) return result.value;
  if (result.error.includes("history.enabled"))
    throw new ApiError("notFound", `this node keeps no history: ${result.error}`);
  throw new ApiError("unavailable", "the history cannot be read now");
}

/** Returns the free space of the last days by hour. */
async function diskOf(node: HistoryReadsDeps["node"], now: number): Promise<readonly (number | null)[]> {
  const request = { from: now - 3 * DAY_SECS, to: now, step: 3600 as const, series: ["disk_free_bytes"] };
  const page = await node.historyFigures(request, "operator");
  return page.ok ? (page.value.columns.disk_free_bytes ?? []) : [];
}
