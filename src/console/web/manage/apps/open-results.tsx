import type { ResponseOf } from "../../data/call.ts";
import { OwnerRegion, useOwnerQuery } from "../../owner/owner-data.tsx";
import { signed } from "../../owner/signed-call.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { DataTable, numberColumn, Stat } from "../../parts/table.tsx";
import * as apps from "../../text/en/manage/apps.ts";
import * as msg from "../../text/en/manage/schedules.ts";
import { formatCount } from "../../text/format.ts";
import { UserName } from "../../text/user-text.tsx";
import { ClientName, useClients } from "./audience-card.tsx";
import { opensCsv } from "./campaign.ts";

type Results = ResponseOf<"GET /frame/app/campaign/results">;
type Client = Results["clients"][number];
type Variant = Results["variants"][number];

/** The texts of a schedule with their results, and which one is better. @param texts their titles. */
function Variants({ results, texts }: { results: Results; texts: readonly string[] }) {
  const { variants, likely_better: better } = results;
  const titleOf = (variant: number) => texts[variant] ?? String(variant + 1);
  return (
    <>
      <p class="pad">
        {better === null ? msg.noClearDifference : msg.isLikelyBetter(<UserName name={titleOf(better)} />)}
      </p>
      <DataTable
        stacks
        label={msg.opensByText}
        rows={variants}
        keyOf={({ variant }) => variant}
        columns={[
          { title: msg.notification, cell: ({ variant }) => <UserName name={titleOf(variant)} /> },
          numberColumn(msg.delivered, ({ delivered }: Variant) => delivered),
          numberColumn(msg.opened, ({ opened }: Variant) => opened),
          numberColumn(msg.goals, ({ goals }: Variant) => goals),
        ]}
      />
    </>
  );
}

/** Returns the signed read of the results of a campaign or a schedule. */
export const resultsCall = (of: { readonly campaign_id: string } | { readonly schedule_id: string }) =>
  signed("GET /frame/app/campaign/results", { query: of });

/** Who opened a campaign or the campaigns of a schedule, as reported by the app: by client app, and by text if there are several. */
export function OpenResults(props: {
  of: { readonly campaign_id: string } | { readonly schedule_id: string };
  /** The titles of the texts of a schedule. */
  texts?: readonly string[];
}) {
  const { of, texts = [] } = props;
  const query = useOwnerQuery(resultsCall(of));
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
      isEmpty={({ results, variants }) =>
        results.opened === 0 && results.turned_off === 0 && variants.length < 2
      }
      empty={msg.noOpensYet}
    >
      {({ results, clients, ...rest }) => (
        <>
          {rest.variants.length > 1 && <Variants results={{ results, clients, ...rest }} texts={texts} />}
          <div class="pad stats">
            <Stat label={msg.opened} name="opened" value={formatCount(results.opened)} />
            <Stat label={msg.verified} name="verified" value={formatCount(results.verified)} />
            <Stat label={msg.goals} name="goals" value={formatCount(results.goals)} />
            <Stat
              label={msg.medianMinutes}
              name="median"
              value={results.median_open_minutes === null ? "–" : formatCount(results.median_open_minutes)}
            />
            <Stat label={msg.turnedOff} name="turned off" value={formatCount(results.turned_off)} />
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
              numberColumn(msg.turnedOff, ({ turned_off }: Client) => turned_off),
            ]}
          />
        </>
      )}
    </OwnerRegion>
  );
}
