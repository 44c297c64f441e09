import type { ResponseOf } from "../../data/call.ts";
import { OwnerRegion, useOwnerQuery } from "../../owner/owner-data.tsx";
import { signed } from "../../owner/session-request.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { DataTable, numberColumn, Stat } from "../../parts/table.tsx";
import * as apps from "../../text/en/manage/apps.ts";
import * as msg from "../../text/en/manage/schedules.ts";
import { formatCount } from "../../text/format.ts";
import { ClientName, useClients } from "./audience-card.tsx";
import { opensCsv } from "./campaign.ts";

type Client = ResponseOf<"GET /frame/app/campaign/results">["clients"][number];

/** Who opened a campaign, as the app reports it, by client app. */
export function OpenResults({ campaignId }: { campaignId: string }) {
  const call = signed("GET /frame/app/campaign/results", { query: { campaign_id: campaignId } });
  const query = useOwnerQuery(call);
  const users = useClients(query.data?.clients.map(({ client_fid }) => client_fid) ?? []);
  return (
    <OwnerRegion
      title={msg.opens}
      query={query}
      aside={
        query.data &&
        query.data.results.opened > 0 && (
          <CopyButton text={opensCsv(query.data.clients)} label={apps.copyAsCsv} quiet={false} />
        )
      }
      isEmpty={({ results }) => results.opened === 0}
      empty={msg.noOpensYet}
    >
      {({ results, clients }) => (
        <>
          <div class="pad stats">
            <Stat label={msg.opened} name="opened" value={formatCount(results.opened)} />
            <Stat label={msg.verified} name="verified" value={formatCount(results.verified)} />
            <Stat label={msg.goals} name="goals" value={formatCount(results.goals)} />
            <Stat
              label={msg.medianMinutes}
              name="median"
              value={results.median_open_minutes === null ? "–" : formatCount(results.median_open_minutes)}
            />
          </div>
          <DataTable
            stacks
            label={msg.opensByClient}
            rows={clients}
            keyOf={({ client_fid }) => String(client_fid)}
            columns={[
              {
                title: msg.clientApp,
                cell: ({ client_fid }) => <ClientName fid={client_fid} users={users} />,
              },
              numberColumn(msg.delivered, ({ delivered }: Client) => delivered),
              numberColumn(msg.opened, ({ opened }: Client) => opened),
              numberColumn(msg.verified, ({ verified }: Client) => verified),
            ]}
          />
        </>
      )}
    </OwnerRegion>
  );
}
