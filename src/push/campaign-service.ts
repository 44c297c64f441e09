import type { AppService } from "../apps/app-service.ts";
import { ok, type Result } from "../lib/result.ts";
import { type Refusal, refused } from "../management/refusal.ts";
import { allRetryableFids } from "./send-service.ts";
import type { Campaign, CampaignBreakdown, CampaignStore } from "./store/campaigns/campaign-store.ts";

/** Limit of client hosts in the details of a campaign: those with the most tokens. */
export const MAX_SHOWN_HOSTS = 100;

/** A campaign with its counts by client host and by reason. */
export interface CampaignDetails extends Campaign {
  readonly breakdown: CampaignBreakdown;
  /** Ascending. */
  readonly retryableFids: readonly number[];
}

/** Campaigns of an app, for its owner. `fid` is the acting fid. */
export interface CampaignService {
  /** Returns at most `max` campaigns with a `seq` below `before`, newest first. */
  list(
    fid: number,
    page: { readonly appId: string; readonly before: number | undefined; readonly max: number },
  ): Promise<Result<Campaign[], Refusal>>;
  get(fid: number, campaignId: string): Promise<Result<CampaignDetails, Refusal>>;
}

export function createCampaignService(deps: {
  readonly apps: AppService;
  readonly campaigns: CampaignStore;
}): CampaignService {
  const { apps, campaigns } = deps;
  return {
    async list(fid, { appId, before = Number.MAX_SAFE_INTEGER, max }) {
      const app = await apps.get(fid, appId);
      return app.ok ? ok(await campaigns.list({ appId, before, max })) : app;
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
