import type { AppService } from "../../apps/app-service.ts";
import type { App } from "../../apps/app-store.ts";
import { hashBody } from "../../auth/signed-routes.ts";
import type { SigningOwner } from "../../auth/verify.ts";
import { ok, type Result } from "../../lib/result.ts";
import { ownValue, readObject } from "../../management/fields.ts";
import { badField, type Refusal, refused } from "../../management/refusal.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { SavedService } from "../saved-service.ts";
import type { SendService, StartedCampaign } from "../send-service.ts";
import type { Audience } from "../store/campaigns/campaign-store.ts";
import {
  type NewWave,
  type Schedule,
  type ScheduleContent,
  type ScheduleStore,
  WINNER,
} from "../store/schedules/schedule-store.ts";
import { type CampaignRequest, readCampaignRequest } from "./campaign-request.ts";
import { wavesOf } from "./timing.ts";

/** Maximum number of schedules per app with waves that are still due. */
export const MAX_OPEN_SCHEDULES = 100;
/**
 * A schedule is stored for up to a month. This is room for about 30,000 fids of its request; the list of its segment has a separate
 * bound.
 */
const MAX_CONTENT_CHARS = 256 * 1024;
const HOUR_SECS = 3_600;

/** Sends of an app by its owner, immediate and scheduled. `fid` is the acting fid. */
export interface ScheduleService {
  /**
   * Starts or schedules a send of the app that the body names.
   *
   * @param rawBody the bytes that the custody address has signed
   */
  send(
    owner: SigningOwner,
    body: unknown,
    rawBody: Uint8Array,
  ): Promise<Result<StartedCampaign | { readonly schedule: Schedule }, Refusal>>;
  /** Returns those before `before` (a `seq`), newest first. */
  list(
    fid: number,
    page: { readonly appId: string; readonly before: number | undefined; readonly max: number },
  ): Promise<Result<Schedule[], Refusal>>;
  get(fid: number, scheduleId: string): Promise<Result<Schedule, Refusal>>;
  /** Cancels the waves that have not been sent. Returns the schedule afterwards. */
  cancel(fid: number, scheduleId: string): Promise<Result<Schedule, Refusal>>;
}

export function createScheduleService(deps: {
  readonly apps: Pick<AppService, "get">;
  readonly schedules: ScheduleStore;
  readonly saved: Pick<SavedService, "withSegment">;
  readonly sends: Pick<SendService, "create">;
  readonly clock: Clock;
  /** Called when a schedule is stored. Default: none, because the runner also finds schedules by polling. */
  readonly onStored?: () => void;
}): ScheduleService {
  const { apps, schedules, saved, sends, clock, onStored } = deps;

  async function get(fid: number, scheduleId: string): Promise<Result<Schedule, Refusal>> {
    const schedule = await schedules.find(scheduleId);
    if (!schedule) return refused("notFound", "no such schedule");
    // The schedules of a deleted app still belong to their owner.
    if (schedule.ownerFid !== fid) return refused("forbidden", "the schedule belongs to another fid");
    return ok(schedule);
  }

  async function schedule(
    app: App,
    request: CampaignRequest,
    audience: Audience,
    signed: { readonly custody: Uint8Array; readonly rawBody: Uint8Array },
  ): Promise<Result<{ readonly schedule: Schedule }, Refusal>> {
    const content = contentOf(request, audience);
    const listChars = audience.segment?.fids?.length ?? 0;
    if (JSON.stringify(content).length - listChars > MAX_CONTENT_CHARS)
      return badField(
        "a scheduled send names too many fids: save them as a segment, or send it to parts of them",
      );
    const scheduleId = crypto.randomUUID();
    const outcome = await schedules.create(
      {
        scheduleId,
        appId: app.appId,
        ownerFid: app.ownerFid,
        custody: signed.custody,
        bodyHash: await hashBody(signed.rawBody),
        content,
        createdAt: nowSecs(clock),
        waves: wavesIn(request, content),
      },
      MAX_OPEN_SCHEDULES,
    );
    if (outcome === "too-many")
      return refused("tooManyRequests", `an app may have at most ${MAX_OPEN_SCHEDULES} schedules to send`);
    onStored?.();
    const stored = await schedules.find(scheduleId);
    if (!stored) throw new Error(`schedule ${scheduleId} is missing`);
    return ok({ schedule: stored });
  }

  return {
    async send({ fid, custody }, body, rawBody) {
      const fields = readObject(body, "request body");
      if (!fields.ok) return fields;
      const appId = ownValue(fields.value, "app_id");
      if (typeof appId !== "string" || appId === "") return badField("missing field app_id");
      const app = await apps.get(fid, appId);
      if (!app.ok) return app;
      const request = readCampaignRequest(body, app.value.appUrl, nowSecs(clock));
      if (!request.ok) return request;
      const { plan, segmentId, notification, uuid } = request.value;
      const tracks = plan.tracksOpens ? { tracksOpens: true as const } : {};
      const audience = await saved.withSegment(
        app.value,
        { ...request.value.audience, ...tracks },
        segmentId,
      );
      if (!audience.ok) return audience;
      return plan.isScheduled
        ? schedule(app.value, request.value, audience.value, { custody, rawBody })
        : sends.create(app.value, { notification, uuid, audience: audience.value });
    },

    async list(fid, { appId, before = Number.MAX_SAFE_INTEGER, max }) {
      const app = await apps.get(fid, appId);
      return app.ok ? ok(await schedules.list({ appId, before, max })) : app;
    },

    get,

    async cancel(fid, scheduleId) {
      const found = await get(fid, scheduleId);
      if (!found.ok) return found;
      if ((await schedules.cancel(scheduleId)) === 0)
        return badField("nothing of the schedule is left to cancel");
      return get(fid, scheduleId);
    },
  };
}

function contentOf({ notification, plan }: CampaignRequest, audience: Audience): ScheduleContent {
  const { variants, timing, holdoutPercent, lateOkSecs } = plan;
  const { title, body, targetUrl } = notification;
  const texts = variants.map((variant) => ({
    title: variant.title ?? title,
    body: variant.body ?? body,
    targetUrl: variant.target_url ?? targetUrl,
  }));
  return {
    texts: texts.length > 0 ? texts : [notification],
    audience,
    timing,
    times: wavesOf(timing),
    holdoutPercent,
    lateOkSecs,
  };
}

/** Returns the campaigns of a schedule: one per time and text, numbered by time, then one for the winner. */
function wavesIn({ plan }: CampaignRequest, { times, texts: { length: texts } }: ScheduleContent): NewWave[] {
  const waves = times.flatMap((dueAt, place) =>
    Array.from({ length: texts }, (_, variant) => ({ wave: place * texts + variant, dueAt, variant })),
  );
  if (plan.winnerAfterHours === undefined) return waves;
  const dueAt = (times[0] ?? 0) + plan.winnerAfterHours * HOUR_SECS;
  return [...waves, { wave: waves.length, dueAt, variant: WINNER }];
}
