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
import { APPS_PATH, appPath } from "./apps.tsx";

export type Schedule = Schemas["NotificationSchedule"];

const EVERY_MS = 5_000;

export const schedulePath = (appId: string, scheduleId: string) =>
  `${APPS_PATH}/${encodeURIComponent(appId)}/schedules/${encodeURIComponent(scheduleId)}`;

export const KINDS: Readonly<Record<Schedule["state"], PillKind>> = {
  due: "acc",
  sent: "ok",
  held: "bad",
  missed: "bad",
  cancelled: "warn",
};

/** The state of a schedule, and what stopped it. */
export function StateCell({ state, waves }: Pick<Schedule, "state" | "waves">) {
  const reason = waves.find(({ held_because }) => held_because !== null)?.held_because;
  return (
    <>
      <Pill kind={KINDS[state]}>{msg.states[state]}</Pill>
      {reason && <div class="xs dim">{msg.heldBecause[reason]}</div>}
    </>
  );
}

/** The scheduled sends and their outcomes. */
export function ScheduledTab({ appId }: { appId: string }) {
  const call = signed("GET /frame/app/schedule", { query: { app_id: appId, limit: 25 } });
  const pages = useOwnerPages(call, listOf("schedules"), { everyMs: EVERY_MS });
  const action = useAction();
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
                cell: ({ schedule_id, texts }) => (
                  <>
                    <a href={schedulePath(appId, schedule_id)} data-open>
                      <UserName name={texts[0]?.title ?? ""} />
                    </a>
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
              {
                title: msg.parts,
                cell: ({ waves }) => (
                  <span class="xs dim">
                    {msg.sentOf(waves.filter(({ state }) => state === "sent").length, waves.length)}
                  </span>
                ),
              },
              {
                title: msg.actions,
                cell: (schedule) =>
                  schedule.state === "due" && (
                    <ActionButton action={action} onClick={() => cancel(schedule)}>
                      {msg.cancel}
                    </ActionButton>
                  ),
              },
            ]}
          />
        )}
      </OwnerRegion>
    </div>
  );
}
