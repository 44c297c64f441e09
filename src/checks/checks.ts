import type { WorkLease } from "../cluster/postgres/work-lease.ts";
import { randomBase58 } from "../lib/base58.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { figureOf, gaugeBy } from "../runtime/figures/figures.ts";
import { createLogThrottle } from "../runtime/log/log-throttle.ts";
import type { Logger } from "../runtime/log/logger.ts";
import { type Check, sentenceOf, type Thresholds } from "./check.ts";
import { type CheckState, createEvaluator } from "./evaluator.ts";
import { FigureWindows, type ReadMetric } from "./figures.ts";
import { type IncidentStore, SEEN_EVERY_SECS } from "./incident-store.ts";
import { CHECK_TABLE } from "./table.ts";

const ID_CHARS = 12;
/** How often, in seconds, a node reads what other nodes have decided about the shared state. */
const REFRESH_SECS = 60;
const FAULT_INTERVAL_MS = 60_000;
/** Node id for incidents of the state that nodes share. */
export const SHARED = "";

export interface ChecksDeps {
  readonly settings: Thresholds & { readonly off: readonly string[] };
  readonly nodeId: string;
  readonly incidents: Pick<IncidentStore, "open" | "resolve" | "openOf" | "see">;
  /** Held by the node that decides about the shared state; undefined if there is only one node. */
  readonly lease: WorkLease | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Default: the table of checks. */
  readonly table?: readonly Check[];
}

/** The checks of this node, which determine its incidents. */
export interface Checks {
  /**
   * Evaluates every check and stores the resulting changes. A call while another one is storing its changes only evaluates.
   */
  evaluate(read: ReadMetric): Promise<void>;
  /** Returns the states of the checks, after the first evaluation. */
  states(): readonly CheckState[];
}

export function createChecks(deps: ChecksDeps): Checks {
  const { settings, nodeId, incidents, lease, clock, log, table = CHECK_TABLE } = deps;
  const rows = table.filter(({ value }) => value !== undefined);
  const isOff = ({ id }: Check) => settings.off.includes(id);
  for (const id of settings.off)
    if (!table.some((check) => check.id === id))
      log.warn({ id }, "checks.off names a check that does not exist");
  const evaluator = createEvaluator(rows, settings, isOff);
  const windows = new FigureWindows();
  const startSecs = nowSecs(clock);
  const throttle = createLogThrottle({ clock, intervalMs: FAULT_INTERVAL_MS });
  /** The checks with an open incident, as far as this node knows, with the time when it last confirmed them. */
  const known = new Map<string, number>();
  let states: readonly CheckState[] = [];
  let isStoring = false;
  let refreshedSecs: number | undefined;

  const subjectOf = ({ scope }: Check) => (scope === "shared" ? SHARED : nodeId);

  /**
   * Takes over open incidents from the store: those of this node from before its start, and those of the shared state from
   * other nodes.
   */
  async function refresh(now: number): Promise<void> {
    if (refreshedSecs !== undefined && (!lease || now - refreshedSecs < REFRESH_SECS)) return;
    const isFirst = refreshedSecs === undefined;
    const open = await incidents.openOf(nodeId);
    for (const { checkId, nodeId: subject, seenAt } of open) {
      const row = rows.find((check) => check.id === checkId && !isOff(check));
      // The check is switched off, or belongs to another release.
      if (!row) await incidents.resolve(checkId, subject, now);
      else if (subject === subjectOf(row) && !known.has(checkId)) {
        known.set(checkId, seenAt);
        evaluator.takeOver(checkId, now);
      }
    }
    if (!isFirst) {
      for (const { id, scope } of rows) {
        if (scope !== "shared" || !known.has(id) || open.some(({ checkId }) => checkId === id)) continue;
        known.delete(id);
        evaluator.settle(id);
      }
    }
    refreshedSecs = now;
  }

  async function store(now: number): Promise<void> {
    for (const { check, standing, measured, openedSecs } of states) {
      const { id, severity, scope } = check;
      const isOpen = standing === "open";
      const seenAt = known.get(id);
      if (isOpen === (seenAt !== undefined) && (seenAt === undefined || now - seenAt < SEEN_EVERY_SECS))
        continue;
      if (scope === "shared" && lease && !(await lease.hold())) continue;
      const subject = subjectOf(check);
      if (!isOpen) {
        const wasOpen = await incidents.resolve(id, subject, now);
        known.delete(id);
        if (wasOpen) log.info({ check: id }, "An incident was resolved");
      } else if (seenAt !== undefined) {
        await incidents.see(id, subject, now);
        known.set(id, now);
      } else {
        const sentence = sentenceOf(check, measured ?? { value: 0 });
        const opening = {
          incidentId: randomBase58(ID_CHARS),
          checkId: id,
          nodeId: subject,
          severity,
          sentence,
        };
        const { incident, isChanged } = await incidents.open(opening, openedSecs ?? now);
        known.set(id, now);
        if (isChanged) log.warn({ check: id, incident: incident.incidentId, severity }, sentence);
      }
    }
  }

  return {
    states: () => states.filter(({ check }) => !isOff(check)),
    async evaluate(read) {
      const now = nowSecs(clock);
      const isReady = refreshedSecs !== undefined;
      if (isReady) states = evaluator.evaluate(windows.at(now, startSecs, read));
      if (isStoring) return;
      isStoring = true;
      try {
        // Before the first evaluation, open incidents stay open.
        await refresh(now);
        if (!isReady) states = evaluator.evaluate(windows.at(now, startSecs, read));
        await store(now);
      } catch (err) {
        throttle((others) => log.warn({ err, ...others }, "Incidents could not be stored"));
      } finally {
        isStoring = false;
      }
    },
  };
}

const figure = figureOf<readonly CheckState[]>();

export const checkFigures = [
  figure({
    read: (states) =>
      Object.fromEntries(states.map(({ check, standing }) => [check.id, Number(standing === "open")])),
    metric: gaugeBy("check", "check_open", "1 for a check of the node that is open, else 0."),
  }),
  figure({
    read: (states) => states.filter(({ standing }) => standing === "open").map(({ check }) => check.id),
    status: "checks.open",
  }),
];
