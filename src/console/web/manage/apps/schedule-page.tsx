import { useRoute } from "preact-iso";
import { NotificationPreview } from "../../content/notification.tsx";
import type { ResponseOf } from "../../data/call.ts";
import { DemoPhones } from "../../demo/phones.tsx";
import { type OwnerQuery, OwnerRegion, useOwnerQuery, useWhileDue } from "../../owner/owner-data.tsx";
import { signed } from "../../owner/signed-call.ts";
import { Pill, Time } from "../../parts/pill.tsx";
import { DataTable, Stat } from "../../parts/table.tsx";
import * as apps from "../../text/en/manage/apps.ts";
import * as msg from "../../text/en/manage/schedules.ts";
import { formatCount } from "../../text/format.ts";
import { plainName } from "../../text/name.ts";
import { UserName } from "../../text/user-text.tsx";
import { ManagePage } from "../manage-page.tsx";
import { APPS_PATH, appCall, appPath } from "./apps.tsx";
import { campaignPath } from "./campaign-results.tsx";
import { OpenResults, resultsCall } from "./open-results.tsx";
import { KINDS, type Schedule, StateCell } from "./scheduled.tsx";

const WATCH_MS = 5_000;

type Found = ResponseOf<"GET /frame/app/schedule">;

/** The times and texts of a schedule, each with its campaign once that exists. */
function Parts({ query }: { query: OwnerQuery<Found> }) {
  return (
    <OwnerRegion title={msg.parts} query={query}>
      {({ schedules: [schedule] }) => (
        <DataTable
          stacks
          label={msg.parts}
          rows={schedule?.waves ?? []}
          keyOf={({ due_at, variant }) => `${due_at} ${variant}`}
          columns={[
            {
              title: msg.when,
              cell: ({ due_at, campaign_id }) =>
                campaign_id === null ? (
                  <Time at={due_at} />
                ) : (
                  <a href={campaignPath(campaign_id)} data-open>
                    <Time at={due_at} />
                  </a>
                ),
            },
            {
              title: msg.text,
              cell: ({ variant }) =>
                variant === null ? msg.winner : <UserName name={schedule?.texts[variant]?.title ?? ""} />,
            },
            {
              title: msg.state,
              cell: ({ state, held_because: reason, campaign_id }) => (
                <>
                  <Pill kind={KINDS[state]}>{msg.states[state]}</Pill>{" "}
                  {campaign_id !== null && (
                    <a class="s" href={campaignPath(campaign_id)}>
                      {msg.whoGotIt}
                    </a>
                  )}
                  {reason && <div class="xs dim">{msg.heldBecause[reason]}</div>}
                </>
              ),
            },
          ]}
        />
      )}
    </OwnerRegion>
  );
}

/** The total of all parts so far. */
function Totals({ query }: { query: OwnerQuery<ResponseOf<"GET /frame/app/campaign/results">> }) {
  return (
    <OwnerRegion title={msg.results} query={query}>
      {({ results }) => (
        <div class="pad stats">
          <Stat label={apps.delivered} name="delivered" value={formatCount(results.delivered)} />
          <Stat label={apps.failed} name="failed" value={formatCount(results.failed)} />
          <Stat label={apps.skipped} name="not-attempted" value={formatCount(results.not_attempted)} />
        </div>
      )}
    </OwnerRegion>
  );
}

function Send({ schedule, query }: { schedule: Schedule; query: OwnerQuery<Found> }) {
  const { app_id, schedule_id, texts } = schedule;
  const app = useOwnerQuery(appCall(app_id)).data?.app;
  const subject = { schedule_id };
  const results = useOwnerQuery(resultsCall(subject), { everyMs: WATCH_MS });
  const [first] = texts;
  return (
    <div class="stack">
      <div class="row wrap">
        <StateCell {...schedule} />
      </div>
      <Totals query={results} />
      <OpenResults of={subject} texts={texts.map(({ title }) => title)} />
      <Parts query={query} />
      <div class="split even">
        <NotificationPreview
          appId={app_id}
          appName={app?.name ?? first?.title ?? ""}
          title={first?.title ?? ""}
          body={first?.body ?? ""}
        />
        <DemoPhones
          appId={app_id}
          appName={app?.name}
          notificationId={schedule_id}
          onOpened={() => results.refresh()}
        />
      </div>
    </div>
  );
}

function SchedulePage({ appId, scheduleId }: { appId: string; scheduleId: string }) {
  const query = useWhileDue(
    signed("GET /frame/app/schedule", { query: { app_id: appId, schedule_id: scheduleId } }),
    ({ schedules: [schedule] }) => schedule?.state === "due",
    { dueMs: WATCH_MS },
  );
  const schedule = query.data?.schedules[0];
  const app = useOwnerQuery(schedule && appCall(appId)).data?.app;
  return (
    <ManagePage
      title={schedule ? plainName(schedule.texts[0]?.title ?? "") : msg.scheduledSend}
      crumbs={[
        { label: apps.miniApps, href: APPS_PATH },
        { label: app ? plainName(app.name) : apps.app, href: appPath(appId, "scheduled") },
      ]}
    >
      {() =>
        schedule ? (
          <Send schedule={schedule} query={query} />
        ) : (
          <OwnerRegion title={msg.scheduledSend} query={query} isEmpty={() => true} empty={msg.noSuchSend}>
            {() => null}
          </OwnerRegion>
        )
      }
    </ManagePage>
  );
}

/** A scheduled send, on people's clocks or in several texts: all its campaigns combined. */
export function Page() {
  const { id = "", schedule = "" } = useRoute().params;
  return <SchedulePage appId={id} scheduleId={schedule} key={schedule} />;
}
