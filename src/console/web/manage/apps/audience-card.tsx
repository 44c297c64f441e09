import { formatCount } from "../../data/format.ts";
import { OwnerRegion } from "../../owner/owner-region.tsx";
import { useOwnerQuery } from "../../owner/use-owner-query.ts";
import { DataTable } from "../../parts/data-table.tsx";
import { type Audience, audienceCall } from "./app.ts";
import { ClientName, useClients } from "./client-name.tsx";
import { GrowthPlot } from "./growth-plot.tsx";

const DAYS = 30;
const EVERY_MS = 10_000;

export const useAudience = (appId: string) =>
  useOwnerQuery<Audience>(audienceCall(appId, DAYS), { everyMs: EVERY_MS });

function Clients({ audience }: { audience: Audience }) {
  const { clients, client_count } = audience;
  const users = useClients(clients.map(({ client_fid }) => client_fid));
  return (
    <>
      <DataTable
        stacks
        label="Audience by client"
        rows={clients}
        keyOf={({ client_fid, host }) => `${client_fid} ${host}`}
        columns={[
          { title: "Client", cell: ({ client_fid }) => <ClientName fid={client_fid} users={users} /> },
          { title: "Host", cell: ({ host }) => <span class="mono">{host ?? "–"}</span> },
          { title: "Enabled", cell: ({ enabled }) => formatCount(enabled), isNumber: true },
          { title: "Turned off", cell: ({ disabled }) => formatCount(disabled), isNumber: true },
          { title: "No token", cell: ({ without_token }) => formatCount(without_token), isNumber: true },
        ]}
      />
      {client_count > clients.length && (
        <p class="pad s dim">
          These are the {clients.length} largest of {formatCount(client_count)}.
        </p>
      )}
    </>
  );
}

/** The users that the app can reach: by client, and how their number grew. */
export function AudienceCard({ appId }: { appId: string }) {
  const query = useAudience(appId);
  return (
    <OwnerRegion
      title="Audience"
      call={audienceCall(appId, DAYS)}
      query={query}
      prompted={query}
      aside={<span class="dim s">last {DAYS} days</span>}
      isEmpty={({ clients }) => clients.length === 0}
      empty="Nobody has added the app yet. As soon as a client reports somebody, they appear here."
    >
      {(audience) => (
        <>
          <div class="pad stack">
            <div class="stats">
              <div class="stat">
                <span class="dim s">A send reaches</span>
                <span class="num" data-total={audience.total}>
                  {formatCount(audience.total)}
                </span>
                <span class="s dim">{audience.total === 1 ? "token" : "tokens"}</span>
              </div>
            </div>
            <GrowthPlot days={audience.days} />
          </div>
          <Clients audience={audience} />
        </>
      )}
    </OwnerRegion>
  );
}
