import { formatCount } from "../../data/format.ts";
import { OwnerRegion } from "../../owner/owner-region.tsx";
import { useOwnerPages } from "../../owner/use-owner-query.ts";
import { DataTable } from "../../parts/data-table.tsx";
import { LoadMore, pagesAsQuery } from "../../parts/load-more.tsx";
import { Time } from "../../parts/time.tsx";
import { UserName } from "../../text/user-name.tsx";
import type { Campaign } from "../campaigns/campaign.ts";
import { campaignPath, campaignsCall } from "../campaigns/campaign-calls.ts";
import { CampaignState } from "../campaigns/campaign-state.tsx";
import { appPath } from "./app.ts";

const readCampaigns = (body: {
  readonly campaigns: readonly Campaign[];
  readonly next: { readonly cursor: string | null };
}) => ({ items: body.campaigns, next: body.next.cursor });

/** What the app has sent in the last 30 days. */
export function CampaignsTab({ appId }: { appId: string }) {
  const call = campaignsCall(appId);
  const pages = useOwnerPages<Campaign>(call, readCampaigns);
  return (
    <OwnerRegion
      title="Campaigns"
      call={call}
      query={pagesAsQuery(pages)}
      prompted={pages}
      isEmpty={(campaigns) => campaigns.length === 0}
      empty={
        <>
          Nothing was sent in the last 30 days. <a href={appPath(appId, "send")}>Send a notification</a>.
        </>
      }
    >
      {(campaigns) => (
        <>
          <DataTable
            stacks
            label="Campaigns"
            rows={campaigns}
            keyOf={({ campaign_id }) => campaign_id}
            columns={[
              {
                title: "Notification",
                cell: ({ campaign_id, notification }) => (
                  <a href={campaignPath(campaign_id)} data-open>
                    <UserName name={notification.title} />
                  </a>
                ),
              },
              { title: "State", cell: (campaign) => <CampaignState campaign={campaign} /> },
              { title: "Delivered", cell: ({ success_count }) => formatCount(success_count), isNumber: true },
              { title: "Failed", cell: ({ failure_count }) => formatCount(failure_count), isNumber: true },
              {
                title: "Not tried",
                cell: ({ not_attempted_count }) => formatCount(not_attempted_count),
                isNumber: true,
              },
              { title: "When", cell: ({ created_at }) => <Time at={created_at} /> },
            ]}
          />
          <LoadMore pages={pages} />
        </>
      )}
    </OwnerRegion>
  );
}
