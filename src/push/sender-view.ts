import type { App } from "../apps/app-store.ts";
import type { Campaign, CampaignStore, CampaignTotals } from "./store/campaigns/campaign-store.ts";
import type { TokenPosition, TokenRecord, TokenStore } from "./store/tokens/token-store.ts";

/** Maximum number of client apps in the totals of a campaign. */
const MAX_SHOWN_CLIENTS = 100;

/** A campaign with its counts over all hosts. */
export interface CampaignWithTotals extends Campaign {
  readonly totals: CampaignTotals;
}

/** Reads that the holder of an app's send secret may make. */
export interface SenderView {
  /** Returns campaigns, newest first; `campaignId` selects one. */
  campaigns(
    app: App,
    page: {
      readonly campaignId: string | undefined;
      readonly before: number | undefined;
      readonly max: number;
    },
  ): Promise<CampaignWithTotals[]>;
  /** Returns tokens by fid and client; `fids` selects some. */
  tokens(
    app: App,
    page: {
      readonly fids: readonly number[] | undefined;
      readonly after: TokenPosition | undefined;
      readonly max: number;
    },
  ): Promise<TokenRecord[]>;
}

export function createSenderView(deps: {
  readonly campaigns: CampaignStore;
  readonly tokens: TokenStore;
}): SenderView {
  const { campaigns, tokens } = deps;

  async function find({ appId }: App, campaignId: string): Promise<Campaign[]> {
    const campaign = await campaigns.find(campaignId);
    return campaign?.appId === appId ? [campaign] : [];
  }

  return {
    async campaigns(app, { campaignId, before = Number.MAX_SAFE_INTEGER, max }) {
      const { appId } = app;
      const found =
        campaignId === undefined
          ? await campaigns.list({ appId, before, max })
          : await find(app, campaignId.toLowerCase());
      const withTotals: CampaignWithTotals[] = [];
      for (const campaign of found) {
        const totals = await campaigns.totals(campaign.campaignId, MAX_SHOWN_CLIENTS);
        withTotals.push({ ...campaign, totals });
        // Yields: a campaign may have counts of many hosts, and a page many campaigns.
        await new Promise((resolve) => setImmediate(resolve));
      }
      return withTotals;
    },

    tokens: async ({ appId }, { fids, after, max }) =>
      fids === undefined ? tokens.list({ appId, after, max }) : tokens.listOf({ appId, after, max, fids }),
  };
}
