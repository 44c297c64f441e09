import type { AppService } from "../apps/app-service.ts";
import { ok, type Result } from "../lib/result.ts";
import { ownValue, readObject } from "../management/fields.ts";
import { badField, type Refusal } from "../management/refusal.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { type Estimate, type EstimateDeps, estimateSend } from "./estimate.ts";
import type { SavedService } from "./saved-service.ts";
import { readEstimateRequest } from "./schedules/campaign-request.ts";
import { dayOf, startOfWeek, weekOf } from "./store/tokens/token-counts.ts";
import type {
  AudienceCounts,
  ClientTokens,
  Cohort,
  DayChanges,
  TokenStore,
} from "./store/tokens/token-store.ts";

/** Maximum number of clients in an audience: those with the most tokens. */
export const MAX_SHOWN_CLIENTS = 100;
/** An estimate that takes longer is abandoned. */
const ESTIMATE_TIMEOUT_MS = 2_000;
/** Estimates of this thread that may wait while another one runs. */
const MAX_WAITING = 8;

/** A day with the number of enabled tokens at its end. */
export interface AudienceDay extends DayChanges {
  readonly enabled: number;
}

/** The tokens of an app, for its owner. */
export interface AppAudience {
  /** Enabled tokens. */
  readonly total: number;
  readonly clients: readonly ClientTokens[];
  readonly clientCount: number;
  /** Ascending. */
  readonly days: readonly AudienceDay[];
}

/** How many of the tokens added in a week an app could still reach later. */
export interface WeekRetention {
  /** Unix seconds. */
  readonly startsAt: number;
  readonly added: number;
  /** The number enabled at the end of that week, and of each later week that has ended. */
  readonly reachable: readonly number[];
}

/** The users that an app can reach, for its owner. `fid` is the acting fid. */
export type AudienceService = ReturnType<typeof createAudienceService>;

export function createAudienceService(
  deps: EstimateDeps & {
    readonly apps: AppService;
    readonly tokens: Pick<TokenStore, "audience" | "cohorts">;
    readonly saved: Pick<SavedService, "withSegment">;
    readonly clock: Clock;
    /** Default: 2 seconds. */
    readonly estimateTimeoutMs?: number;
  },
) {
  const { apps, tokens, saved, clock, estimateTimeoutMs = ESTIMATE_TIMEOUT_MS } = deps;
  const inTurn = createTurns(MAX_WAITING);

  async function appOf(fid: number, body: unknown) {
    const fields = readObject(body, "request body");
    if (!fields.ok) return fields;
    const appId = ownValue(fields.value, "app_id");
    if (typeof appId !== "string" || appId === "") return badField("missing field app_id");
    return apps.get(fid, appId);
  }

  return {
    /** @param days how many days of growth, including today */
    async get(
      fid: number,
      { appId, days }: { readonly appId: string; readonly days: number },
    ): Promise<Result<AppAudience, Refusal>> {
      const app = await apps.get(fid, appId);
      if (!app.ok) return app;
      const today = dayOf(nowSecs(clock));
      const fromDay = today - days + 1;
      const audience = await tokens.audience(appId, { fromDay, maxClients: MAX_SHOWN_CLIENTS });
      return ok({
        total: audience.enabled,
        clients: audience.clients,
        clientCount: audience.clientCount,
        days: growthOf(audience, { fromDay, today }),
      });
    },

    /** @param weeks how many weeks, including the current one */
    async retention(
      fid: number,
      { appId, weeks }: { readonly appId: string; readonly weeks: number },
    ): Promise<Result<WeekRetention[], Refusal>> {
      const app = await apps.get(fid, appId);
      if (!app.ok) return app;
      const now = weekOf(nowSecs(clock));
      return ok((await tokens.cohorts(appId, now - weeks + 1)).map((cohort) => retentionOf(cohort, now)));
    },

    /** Counts the tokens that the campaign would reach; `busy` if that takes too long. */
    async estimate(fid: number, body: unknown): Promise<Result<Estimate | "busy", Refusal>> {
      const app = await appOf(fid, body);
      if (!app.ok) return app;
      const request = readEstimateRequest(body, app.value.appUrl);
      if (!request.ok) return request;
      const { segmentId, uuid } = request.value;
      const audience = await saved.withSegment(app.value, request.value.audience, segmentId);
      if (!audience.ok) return audience;
      const send = { audience: audience.value, uuid };
      const signal = AbortSignal.timeout(estimateTimeoutMs);
      try {
        return ok(await inTurn(() => estimateSend(deps, app.value, send, signal), signal));
      } catch (cause) {
        if (signal.aborted) return ok("busy");
        throw cause;
      }
    },
  };
}

/**
 * Runs tasks one after the other, because each uses its thread for a while.
 *
 * @returns a function that rejects if the signal aborts before its turn, and resolves to `busy` if too many wait
 */
function createTurns(maxWaiting: number) {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async <T>(task: () => Promise<T>, signal: AbortSignal): Promise<T | "busy"> => {
    if (waiting > maxWaiting) return "busy";
    waiting += 1;
    const run = last.then(() => {
      signal.throwIfAborted();
      return task();
    });
    last = run.catch(() => undefined).finally(() => (waiting -= 1));
    return run;
  };
}

/** @param now the current week, which has not ended */
export function retentionOf({ week, added, changes }: Cohort, now: number): WeekRetention {
  let enabled = 0;
  const ended = changes.slice(0, Math.max(now - week, 0));
  return { startsAt: startOfWeek(week), added, reachable: ended.map((change) => (enabled += change)) };
}

/**
 * Returns each day until today, from `fromDay` or the first counted day, with the number of enabled tokens at its end: the current number
 * without the changes of later days.
 */
export function growthOf(
  { days, enabled, firstDay }: Pick<AudienceCounts, "days" | "enabled" | "firstDay">,
  { fromDay, today }: { readonly fromDay: number; readonly today: number },
): AudienceDay[] {
  const changes = new Map(days.map((day) => [day.day, day]));
  // The state's clock may be ahead of this machine's; the number of days stays as requested.
  const last = Math.max(today, days.at(-1)?.day ?? today);
  const first = Math.max(last - (today - fromDay), Math.min(firstDay ?? last, last));
  const growth: AudienceDay[] = [];
  let atEnd = enabled;
  for (let day = last; day >= first; day--) {
    const { added = 0, removed = 0, disabled = 0, invalidated = 0 } = changes.get(day) ?? {};
    growth.push({ day, enabled: atEnd, added, removed, disabled, invalidated });
    atEnd -= added - removed - disabled - invalidated;
  }
  return growth.reverse();
}
