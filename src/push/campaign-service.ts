import type { AppService } from "../apps/app-service.ts";
import { ok, type Result } from "../lib/result.ts";
import { type Refusal, refused } from "../management/refusal.ts";
import { type ResultsReport, reportOf, variantResults } from "./schedules/results.ts";
import { allRetryableFids } from "./send-service.ts";
import type { Campaign, CampaignBreakdown, CampaignStore } from "./store/campaigns/campaign-store.ts";
import type { OpenStore } from "./store/open-store.ts";
import type { ScheduleStore } from "./store/schedules/schedule-store.ts";

/** Maximum number of client hosts in the details of a campaign: those with the most tokens. */
export const MAX_SHOWN_HOSTS = 100;

/** A campaign with its counts by client host and by reason. */
export interface CampaignDetails extends Campaign {
  readonly breakdown: CampaignBreakdown;
  /** Ascending. */
  readonly retryableFids: readonly number[];
}

/** A campaign, or all campaigns of a schedule combined, with the id and position of the first. */
export interface ListedCampaign extends Campaign {
  readonly parts: number;
}

/** A campaign or a schedule. */
export type ResultsOf = { readonly campaignId: string } | { readonly scheduleId: string };

/** Campaigns of an app, for its owner. `fid` is the acting fid. */
export interface CampaignService {
  /**
   * Returns at most `max` campaigns with a `seq` below `before`, newest first. If `isGrouped`, those of a schedule are combined into one.
   */
  list(
    fid: number,
    page: {
      readonly appId: string;
      readonly before: number | undefined;
      readonly max: number;
      readonly isGrouped: boolean;
    },
  ): Promise<Result<ListedCampaign[], Refusal>>;
  get(fid: number, campaignId: string): Promise<Result<CampaignDetails, Refusal>>;
  /** Returns the results of a campaign, or of all campaigns of a schedule. */
  results(fid: number, subject: ResultsOf): Promise<Result<ResultsReport, Refusal>>;
}

export function createCampaignService(deps: {
  readonly apps: AppService;
  readonly campaigns: CampaignStore;
  readonly schedules: Pick<ScheduleStore, "find">;
  readonly opens: Pick<OpenStore, "counts">;
}): CampaignService {
  const { apps, campaigns, schedules } = deps;

  async function resultsOfSchedule(fid: number, scheduleId: string): Promise<Result<ResultsReport, Refusal>> {
    const schedule = await schedules.find(scheduleId);
    if (!schedule) return refused("notFound", "no such schedule");
    if (schedule.ownerFid !== fid) return refused("forbidden", "the schedule belongs to another fid");
    const found: Campaign[] = [];
    for (const { campaignId } of schedule.waves) {
      const campaign = campaignId === null ? undefined : await campaigns.find(campaignId);
      if (campaign) found.push(campaign);
    }
    const variants = schedule.content.texts.length > 1 ? await variantResults(deps, schedule) : [];
    return ok(await reportOf(deps, found, variants));
  }

  return {
    async list(fid, { appId, before = Number.MAX_SAFE_INTEGER, max, isGrouped }) {
      const app = await apps.get(fid, appId);
      if (!app.ok) return app;
      const found = await campaigns.list({ appId, before, max, isGrouped });
      const scheduled = isGrouped
        ? found.flatMap(({ schedule }) => (schedule === null ? [] : [schedule]))
        : [];
      const sums = new Map((await campaigns.sums(scheduled)).map((sum) => [sum.schedule, sum]));
      return ok(
        found.map((one) => ({ ...one, parts: 1, ...(one.schedule !== null && sums.get(one.schedule)) })),
      );
    },

    async results(fid, subject) {
      if ("scheduleId" in subject) return resultsOfSchedule(fid, subject.scheduleId);
      const campaign = await campaigns.find(subject.campaignId);
      if (!campaign) return refused("notFound", "no such campaign");
      const app = await apps.get(fid, campaign.appId);
      return app.ok ? ok(await reportOf(deps, [campaign], [])) : app;
    },

    async get(fid, campaignId) {
      const campaign = await campaigns.find(campaignId);
      if (!campaign) return refused("notFound", "no such campaign");
      const app = await apps.get(fid, campaign.appId);
      if (!app.ok) return app;
      return ok({
        ...campaign,
        breakdown: await campaigns.breakdown(campaignId, MAX_SHOWN_HOSTS),
        retryableFids: await allRetryableFids(campaigns, campaignId),
      });
    },
  };
}
