import { get } from "../../data/call.ts";

export const campaignPath = (campaignId: string) => `/console/manage/campaigns/${campaignId}`;

export const campaignCall = (campaignId: string) => ({
  ...get("/frame/app/campaign", { campaign_id: campaignId }),
  op: "app.read",
  cli: `app campaign ${campaignId}`,
});

export const campaignsCall = (appId: string) => ({
  ...get("/frame/app/campaigns", { app_id: appId, limit: 25 }),
  op: "app.read",
  cli: `app campaigns ${appId} --limit 25`,
});
