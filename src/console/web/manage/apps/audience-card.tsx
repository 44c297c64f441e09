import type { ResponseOf, Schemas, User } from "../../data/call.ts";
import { usePeople } from "../../data/query.ts";
import { OwnerRegion, useOwnerQuery } from "../../owner/owner-data.tsx";
import { signed } from "../../owner/signed-call.ts";
import { Sparkline } from "../../parts/pill.tsx";
import { DataTable, numberColumn, Stat } from "../../parts/table.tsx";
import * as msg from "../../text/en/manage/apps.ts";
import { formatCount, formatPercent } from "../../text/format.ts";
import { displayNameOf } from "../../text/name.ts";
import { UserName } from "../../text/user-text.tsx";

type Day = Schemas["AudienceDay"];
type Client = Schemas["AudienceClient"];

const DAYS = 30;
const EVERY_MS = 10_000;

export const useAudience = (appId: string) =>
  useOwnerQuery(signed("GET /frame/app/audience", { query: { app_id: appId, days: DAYS } }), {
    everyMs: EVERY_MS,
  });

/** Returns the accounts of client apps, by fid. A client without an fid has none. */
export const useClients = (clientFids: readonly number[]) => usePeople(clientFids.filter((fid) => fid > 0));

/** A client app, by name and fid. */
export function ClientName({ fid, users }: { fid: number; users: ReadonlyMap<number, User> }) {
  const user = users.get(fid);
  if (fid === 0) return <>{msg.unnamedClient}</>;
  return (
    <>
      {user ? <UserName name={displayNameOf(user)} /> : msg.client} <span class="dim mono">{fid}</span>
    </>
  );
}

/** The number of enabled tokens at the end of each day, as a curve and as a table for screen readers. */
function GrowthPlot({ days }: { days: readonly Day[] }) {
  const first = days[0];
  const last = days.at(-1);
  if (!first || !last) return null;
  if (days.length === 1) return <p class="s dim">{msg.growthAppearsTomorrowTodayIsThe}</p>;
  const label = msg.enabledTokensFromOnToOn(
    formatCount(first.enabled),
    first.day,
    formatCount(last.enabled),
    last.day,
  );
  return (
    <div class="growth">
      <Sparkline values={days.map(({ enabled }) => enabled)} label={label} tall />
      <div class="row xs dim">
        <span class="grow">{first.day}</span>
        <span>{last.day}</span>
      </div>
      <details>
        <summary class="s">{msg.dayByDay}</summary>
        <DataTable
          label={msg.growthDayByDay}
          rows={days.toReversed()}
          keyOf={({ day }) => day}
          columns={[
            { title: msg.dayUtc, cell: ({ day }) => day },
            numberColumn(msg.enabled, ({ enabled }: Day) => enabled),
            numberColumn(msg.added, ({ added }: Day) => added),
            numberColumn(msg.removed, ({ removed }: Day) => removed),
            numberColumn(msg.turnedOff, ({ disabled }: Day) => disabled),
            numberColumn(msg.invalid, ({ invalidated }: Day) => invalidated),
          ]}
        />
      </details>
    </div>
  );
}

function Clients({ clients, count }: { clients: readonly Client[]; count: number }) {
  const users = useClients(clients.map(({ client_fid }) => client_fid));
  return (
    <>
      <DataTable
        stacks
        label={msg.audienceByClient}
        rows={clients}
        keyOf={({ client_fid, host }) => `${client_fid} ${host}`}
        columns={[
          { title: msg.client, cell: ({ client_fid }) => <ClientName fid={client_fid} users={users} /> },
          { title: msg.host, cell: ({ host }) => <span class="mono">{host ?? "–"}</span> },
          numberColumn(msg.enabled, ({ enabled }: Client) => enabled),
          numberColumn(msg.turnedOff, ({ disabled }: Client) => disabled),
          numberColumn(msg.noToken, ({ without_token }: Client) => without_token),
        ]}
      />
      {count > clients.length && (
        <p class="pad s dim">{msg.theLargestOf(clients.length, formatCount(count))}</p>
      )}
    </>
  );
}

/** The columns of the table: weeks after the first. */
const WEEKS_AFTER = [0, 1, 2, 4, 8, 12];

type Week = ResponseOf<"GET /frame/app/retention">["weeks"][number];

/** Returns the percentage that was left some weeks later; null before the end of that week. */
function percentAfter({ added, reachable }: Week, after: number): number | null {
  const left = reachable[after];
  return left === undefined || added === 0 ? null : Math.round((100 * left) / added);
}

/** How many of those who added the app in a week can still be reached. */
export function RetentionCard({ appId }: { appId: string }) {
  const query = useOwnerQuery(signed("GET /frame/app/retention", { query: { app_id: appId } }));
  return (
    <OwnerRegion
      title={msg.retention}
      query={query}
      isEmpty={({ weeks }) => weeks.length === 0}
      empty={msg.noWeeksYet}
    >
      {({ weeks }) => (
        <>
          <DataTable
            stacks
            label={msg.retention}
            rows={weeks.toReversed()}
            keyOf={({ week }) => week}
            columns={[
              { title: msg.weekOf, cell: ({ week }) => new Date(week * 1000).toISOString().slice(0, 10) },
              numberColumn(msg.added, ({ added }: Week) => added),
              ...WEEKS_AFTER.map((after) =>
                numberColumn(msg.afterWeeks(after), (week: Week) => percentAfter(week, after), formatPercent),
              ),
            ]}
          />
          <p class="pad s dim">{msg.reachableAtTheEnd}</p>
        </>
      )}
    </OwnerRegion>
  );
}

/** The users that the app can reach: by client, and their growth. */
export function AudienceCard({ appId }: { appId: string }) {
  const query = useAudience(appId);
  return (
    <OwnerRegion
      title={msg.audience}
      query={query}
      aside={<span class="dim s">{msg.lastDays(DAYS)}</span>}
      isEmpty={({ clients }) => clients.length === 0}
      empty={msg.noUsersYetTheyAppearHere}
    >
      {({ total, days, clients, client_count }) => (
        <>
          <div class="pad stack">
            <div class="stats">
              <Stat
                label={msg.aSendReaches}
                value={<span data-total={total}>{formatCount(total)}</span>}
                words={msg.tokensOf(total)}
              />
            </div>
            <GrowthPlot days={days} />
          </div>
          <Clients clients={clients} count={client_count} />
        </>
      )}
    </OwnerRegion>
  );
}
