import type { AppStore } from "../../apps/app-store.ts";
import { isUncertain, type Owners } from "../../auth/owners/owners.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import { hostFault } from "../open-links.ts";
import { MAX_UNFINISHED } from "../store/campaigns/campaign-store.ts";
import {
  type DueWave,
  type FireOutcome,
  type HeldReason,
  type ScheduleStore,
  WINNER,
} from "../store/schedules/schedule-store.ts";
import { bestVariant, type ResultDeps, variantResults } from "./results.ts";
import { shareOfWave } from "./wave-audience.ts";

/** Waves that are read at once. */
const MAX_WAVES = 100;

/** Finds waves that are due, and stores their campaigns. Any number of nodes may run it at once. */
export type ScheduleRunner = ReturnType<typeof createScheduleRunner>;

export function createScheduleRunner(
  deps: ResultDeps & {
    readonly schedules: ScheduleStore;
    readonly apps: AppStore;
    readonly owners: Pick<Owners, "isOwner">;
    /** While it returns true, the address in the index may be that of a previous owner. */
    readonly isBehind: () => boolean;
    readonly clock: Clock;
    readonly log: Logger;
    readonly dedupeTtlSecs: number;
  },
) {
  const { schedules, apps, owners, isBehind, clock, log } = deps;

  async function textOf({ scheduleId, content, variant }: DueWave) {
    if (variant !== WINNER) return content.texts[variant];
    const schedule = await schedules.find(scheduleId);
    return content.texts[schedule ? bestVariant(await variantResults(deps, schedule)) : 0];
  }

  async function fire(wave: DueWave): Promise<FireOutcome | "held"> {
    const { scheduleId, appId, ownerFid, custody, content, lastDueAt } = wave;
    const named = { scheduleId, appId, wave: wave.wave };
    const hold = async (reason: HeldReason) => {
      log.warn({ ...named, reason }, "A scheduled send is held");
      await schedules.hold(wave, reason);
      return "held" as const;
    };
    const app = await apps.find(appId, nowSecs(clock));
    if (!app) return hold("app_deleted");
    if (!(await owners.isOwner(ownerFid, custody))) return hold("custody_moved");
    const text = await textOf(wave);
    if (!text || hostFault(text.targetUrl, app.appUrl) !== undefined) return hold("app_url_changed");

    const createdAt = nowSecs(clock);
    const outcome = await schedules.fire(
      wave,
      {
        campaignId: Bun.randomUUIDv5(String(wave.wave), scheduleId),
        appId,
        // The id is the same for all waves and texts, so that the ledger and clients refuse a second notification.
        notification: { ...text, notificationId: scheduleId },
        share: shareOfWave(scheduleId, content, wave),
        createdAt,
        // The ledger must remember the first recipients until the last wave is sent.
        ledgerSecs: Math.max(lastDueAt - createdAt, 0) + content.lateOkSecs + deps.dedupeTtlSecs,
      },
      { lateOkSecs: content.lateOkSecs, maxUnfinished: MAX_UNFINISHED },
    );
    if (outcome === "late") log.warn(named, "A scheduled send was missed");
    return outcome;
  }

  return {
    /**
     * Fires the waves that are due. Returns the number of campaigns that it has stored. If an app has too many unfinished campaigns, or
     * its send cannot be started, other apps do not have to wait. Like signed requests, waves wait while the index is behind, and a change
     * of the owner counts only once it is confirmed.
     *
     * @throws the first fault, after the sends of the other apps
     */
    async fireDue(): Promise<number> {
      let sent = 0;
      // The waves of these apps stay due: without this set, they would be the oldest ones in every query.
      const waitingApps = new Set<string>();
      const faults: unknown[] = [];
      while (!isBehind()) {
        const waves = await schedules.due(nowSecs(clock), MAX_WAVES, [...waitingApps]);
        const waitingBefore = waitingApps.size;
        for (const wave of waves) {
          if (waitingApps.has(wave.appId)) continue;
          try {
            const outcome = await fire(wave);
            if (outcome === "sent") sent += 1;
            if (outcome === "too-many") waitingApps.add(wave.appId);
          } catch (cause) {
            if (!isUncertain(cause)) faults.push(cause);
            waitingApps.add(wave.appId);
          }
        }
        if (waves.length < MAX_WAVES || waitingApps.size === waitingBefore) break;
      }
      if (faults.length > 0) throw faults[0];
      return sent;
    },
  };
}
