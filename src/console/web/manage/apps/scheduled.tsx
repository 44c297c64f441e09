import { Fragment } from "preact";
import { useState } from "preact/hooks";
import type { Schemas } from "../../data/call.ts";
import { listOf } from "../../data/pages.ts";
import { ActionButton, Outcome, useAction } from "../../owner/action.tsx";
import { OwnerRegion, useOwnerPages } from "../../owner/owner-data.tsx";
import { sessionRequest } from "../../owner/session-request.ts";
import { signed } from "../../owner/signed-call.ts";
import { Pill, type PillKind, Time } from "../../parts/pill.tsx";
import { DataTable } from "../../parts/table.tsx";
import * as msg from "../../text/en/manage/schedules.ts";
import { UserName } from "../../text/user-text.tsx";
import { appPath } from "./apps.tsx";
import { campaignPath } from "./campaign-results.tsx";
import { OpenResults } from "./open-results.tsx";

type Schedule = Schemas["NotificationSchedule"];

const EVERY_MS = 5_000;

const KINDS: Readonly<Record<Schedule["state"], PillKind>> = {
  due: "acc",
  sent: "ok",
  held: "bad",
  missed: "bad",
  cancelled: "warn",
};

function StateCell({ state, waves }: Schedule) {
  const reason = waves.find(({ held_because }) => held_because !== null)?.held_because;
  return (
    <>
      <Pill kind={KINDS[state]}>{msg.states[state]}</Pill>
      {reason && <div class="xs dim">{msg.heldBecause[reason]}</div>}
    </>
  );
}

/** The campaigns that were made, of which one without waves has one for each text. */
function Made({ waves }: Schedule) {
  const made = waves.flatMap(({ campaign_id }) => (campaign_id === null ? [] : [campaign_id]));
  return (
    <>
      <span class="xs dim">{msg.sentOf(made.length, waves.length)}</span>
      {made.slice(0, 4).map((id, at) => (
        <Fragment key={id}>
          {" "}
          <a href={campaignPath(id)}>{at + 1}</a>
        </Fragment>
      ))}
    </>
  );
}

/** The scheduled sends and their outcomes. */
export function ScheduledTab({ appId }: { appId: string }) {
  const call = signed("GET /frame/app/schedule", { query: { app_id: appId, limit: 25 } });
  const pages = useOwnerPages(call, listOf("schedules"), { everyMs: EVERY_MS });
  const action = useAction();
  const [looked, setLooked] = useState<Schedule>();
  const cancel = ({ schedule_id, texts }: Schedule) =>
    action.run(async () => {
      await sessionRequest({
        ...signed("DELETE /frame/app/schedule", { query: { schedule_id } }),
        access: "operate",
        words: msg.theNodeCancels(texts[0]?.title ?? ""),
      });
      pages.refresh();
      return msg.cancelled;
    });
  return (
    <div class="stack">
      <Outcome action={action} />
      <OwnerRegion
        title={msg.scheduledSends}
        query={pages}
        isEmpty={(schedules) => schedules.length === 0}
        empty={msg.nothingIsScheduled(<a href={appPath(appId, "send")}>{msg.scheduleASend}</a>)}
      >
        {(schedules) => (
          <DataTable
            stacks
            label={msg.scheduledSends}
            rows={schedules}
            keyOf={({ schedule_id }) => schedule_id}
            columns={[
              {
                title: msg.notification,
                cell: ({ texts }) => (
                  <>
                    <UserName name={texts[0]?.title ?? ""} />
                    {texts.length > 1 && <span class="xs dim"> {msg.variants(texts.length)}</span>}
                  </>
                ),
              },
              { title: msg.state, cell: StateCell },
              {
                title: msg.when,
                cell: ({ first_at, local_time }) =>
                  local_time === null ? (
                    <Time at={first_at} />
                  ) : (
                    msg.onEachClock(local_time.replace("T", " "))
                  ),
              },
              { title: msg.campaigns, cell: Made },
              {
                title: "",
                cell: (schedule) => (
                  <span class="row wrap">
                    {schedule.state === "due" && (
                      <ActionButton action={action} onClick={() => cancel(schedule)}>
                        {msg.cancel}
                      </ActionButton>
                    )}
                    {schedule.waves.some(({ campaign_id }) => campaign_id !== null) && (
                      <button type="button" class="btn" onClick={() => setLooked(schedule)}>
                        {msg.results}
                      </button>
                    )}
                  </span>
                ),
              },
            ]}
          />
        )}
      </OwnerRegion>
      {looked && (
        <OpenResults
          of={{ schedule_id: looked.schedule_id }}
          texts={looked.texts.map(({ title }) => title)}
          key={looked.schedule_id}
        />
      )}
    </div>
  );
}
