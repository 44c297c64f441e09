import type { AppStore } from "../../apps/app-store.ts";
import type { CustodyOf } from "../../auth/custody.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import { hostFault } from "../open-links.ts";
import { MAX_UNFINISHED } from "../store/campaigns/campaign-store.ts";
import {
  type DueWave,
  type HeldReason,
  type ScheduleStore,
  WINNER,
} from "../store/schedules/schedule-store.ts";
import { bestVariant, type ResultDeps, variantResults } from "./results.ts";
import { audienceOfWave } from "./wave-audience.ts";

/** Waves that one look takes. */
const MAX_WAVES = 100;

/** Looks for waves that are due, and stores their campaigns. Any number of nodes may do so at once. */
export interface ScheduleRunner {
  /** Returns the number of campaigns that it has stored. */
  fireDue(): Promise<number>;
}

export function createScheduleRunner(
  deps: ResultDeps & {
    readonly schedules: ScheduleStore;
    readonly apps: AppStore;
    readonly custodyOf: CustodyOf;
    readonly clock: Clock;
    readonly log: Logger;
    readonly dedupeTtlSecs: number;
  },
): ScheduleRunner {
  const { schedules, apps, custodyOf, clock, log, dedupeTtlSecs } = deps;

  async function textOf({ scheduleId, content, variant }: DueWave) {
    if (variant !== WINNER) return content.texts[variant];
    const schedule = await schedules.find(scheduleId);
    return content.texts[schedule ? bestVariant(await variantResults(deps, schedule)) : 0];
  }

  async function fire(wave: DueWave): Promise<boolean> {
    const { scheduleId, appId, ownerFid, content, lastDueAt } = wave;
    const named = { scheduleId, appId, wave: wave.wave };
    const hold = async (reason: HeldReason) => {
      log.warn({ ...named, reason }, "A scheduled send is held");
      await schedules.hold(wave, reason);
      return false;
    };
    const app = await apps.find(appId, nowSecs(clock));
    if (!app) return hold("app_deleted");
    const custody = custodyOf(ownerFid);
    if (!custody || !Buffer.from(custody).equals(wave.custody)) return hold("custody_moved");
    const text = await textOf(wave);
    if (!text || hostFault(text.targetUrl, app.appUrl) !== undefined) return hold("app_url_changed");

    const createdAt = nowSecs(clock);
    const outcome = await schedules.fire(
      wave,
      {
        campaignId: Bun.randomUUIDv5(String(wave.wave), scheduleId),
        appId,
        // The same for all waves and texts, so that the ledger and clients refuse a second one.
        notification: { ...text, notificationId: scheduleId },
        audience: audienceOfWave(scheduleId, content, wave),
        createdAt,
        // Who got it first must still be known when the last wave is sent.
        ledgerSecs: Math.max(lastDueAt - createdAt, 0) + content.lateOkSecs + dedupeTtlSecs,
      },
      { lateOkSecs: content.lateOkSecs, maxUnfinished: MAX_UNFINISHED },
    );
    if (outcome === "late") log.warn(named, "A scheduled send was missed");
    return outcome === "sent";
  }

  return {
    async fireDue() {
      let sent = 0;
      for (const wave of await schedules.due(nowSecs(clock), MAX_WAVES)) if (await fire(wave)) sent += 1;
      return sent;
    },
  };
}
