import { formatCount } from "../../data/format.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { DataTable } from "../../parts/data-table.tsx";
import { Region } from "../../parts/region.tsx";
import { type CampaignDetails, type CampaignHost, isUnderWay } from "./campaign.ts";
import { campaignCall } from "./campaign-calls.ts";
import { campaignCsv } from "./campaign-csv.ts";
import { ReasonPills } from "./reason-pills.tsx";

/** The results by client host, and why tokens were not tried. */
export function HostResults({ campaign }: { campaign: CampaignDetails }) {
  const { client_hosts: hosts, client_host_count, not_attempted } = campaign;
  const query = { data: hosts, error: undefined, isStale: false, loadedAtMs: 0, refresh: () => undefined };
  return (
    <Region<readonly CampaignHost[]>
      title="By client host"
      call={campaignCall(campaign.campaign_id)}
      query={query}
      aside={hosts.length > 0 && <CopyButton text={campaignCsv(hosts)} label="Copy as CSV" quiet={false} />}
      isEmpty={() => hosts.length === 0}
      empty={
        isUnderWay(campaign)
          ? "No client has answered yet."
          : "It reached no client: nobody has an enabled token."
      }
    >
      {() => (
        <>
          <DataTable
            stacks
            label="Results by client host"
            rows={hosts}
            keyOf={({ host }) => host}
            columns={[
              { title: "Host", cell: ({ host }) => <span class="mono user">{host}</span> },
              { title: "Delivered", cell: ({ success_count }) => formatCount(success_count), isNumber: true },
              { title: "Failed", cell: ({ failure_count }) => formatCount(failure_count), isNumber: true },
              {
                title: "Not attempted",
                cell: ({ not_attempted_count }) => formatCount(not_attempted_count),
                isNumber: true,
              },
              { title: "Reasons", cell: ({ errors }) => <ReasonPills reasons={errors} /> },
            ]}
          />
          {client_host_count > hosts.length && (
            <p class="pad s dim">
              These are the {hosts.length} largest of {formatCount(client_host_count)} hosts.
            </p>
          )}
          {Object.keys(not_attempted).length > 0 && (
            <p class="pad row wrap s">
              Not attempted: <ReasonPills reasons={not_attempted} isFailure={false} />
            </p>
          )}
        </>
      )}
    </Region>
  );
}
