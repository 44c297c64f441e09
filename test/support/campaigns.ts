import type {
  CampaignRoom,
  CampaignStore,
  CampaignWork,
} from "../../src/push/store/campaigns/campaign-store.ts";

/** Room for any number of campaigns beside those that run. */
export function roomBeside(running: CampaignRoom["running"] = []): CampaignRoom {
  return { running, maxRunning: 1_000_000, maxRunningOfApp: 1_000_000 };
}

/** Takes all free campaigns, and returns one of them; fails when it is not free. */
export async function takeCampaign(
  campaigns: CampaignStore,
  campaignId: string,
  options: { readonly nowSecs?: number; readonly running?: CampaignRoom["running"] } = {},
): Promise<CampaignWork> {
  const { nowSecs = 100, running } = options;
  const taken = await campaigns.take(roomBeside(running), nowSecs);
  const work = taken.find((one) => one.campaignId === campaignId);
  if (!work) throw new Error(`campaign ${campaignId} cannot be taken`);
  return work;
}
