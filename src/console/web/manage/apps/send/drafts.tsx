import type { Schemas } from "../../../data/call.ts";
import { ActionButton, Outcome, useAction } from "../../../owner/action.tsx";
import { OwnerRegion, useOwnerQuery } from "../../../owner/owner-data.tsx";
import { sessionRequest } from "../../../owner/session-request.ts";
import { signed } from "../../../owner/signed-call.ts";
import { Time } from "../../../parts/pill.tsx";
import * as msg from "../../../text/en/manage/schedules.ts";
import { UserName } from "../../../text/user-text.tsx";
import type { App } from "../apps.tsx";
import { audienceOf, emptyDraft, type SendDraft, sendProblems } from "../campaign.ts";
import { emptySchedule, scheduleOf } from "./schedule-fields.tsx";

type Sent = Schemas["NotificationDraft"]["send"];

/** Returns what is stored of a form, even an unfinished one. */
function contentOf(draft: SendDraft, appUrl: string): Sent {
  const { title, body, target_url } = draft;
  const schedule = draft.schedule ?? emptySchedule;
  const { send_at, ...others } = scheduleOf(schedule);
  return {
    title,
    body,
    target_url,
    ...audienceOf(draft, sendProblems(draft, appUrl)),
    ...others,
    // A time that has not been entered yet is omitted.
    ...(Number.isSafeInteger(send_at) && send_at !== undefined && send_at >= 0 && { send_at }),
  } as Sent;
}

const two = (value: number) => String(value).padStart(2, "0");

/** Returns the value of a `datetime-local` input, in this browser's time zone. */
function momentOf(secs: number): string {
  const at = new Date(secs * 1000);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Returns the form of a stored draft. */
function formOf(sent: Sent, appUrl: string): SendDraft {
  const {
    title = "",
    body = "",
    target_url = appUrl,
    target_fids = [],
    exclude_fids = [],
    following_fid,
  } = sent;
  const { send_at, local_time, quiet_hours, variants = [], segment_id = "", track_opens = false } = sent;
  return {
    ...emptyDraft(appUrl),
    title,
    body,
    target_url,
    audience: target_fids.length > 0 ? "some" : "everyone",
    target_fids: target_fids.join(", "),
    exclude_fids: exclude_fids.join(", "),
    following_fid: following_fid === undefined ? "" : String(following_fid),
    schedule: {
      at: local_time !== undefined ? "local" : send_at !== undefined ? "time" : "now",
      time: local_time ?? (send_at === undefined ? "" : momentOf(send_at)),
      quiet_from: quiet_hours?.from ?? "",
      quiet_to: quiet_hours?.to ?? "",
      second_title: variants[1]?.title ?? "",
      second_body: variants[1]?.body ?? "",
      segment_id,
      tracks: track_opens,
      compares: variants.length > 1,
    },
  };
}

/** Unfinished sends of the app, stored on the node. */
export function DraftsCard(props: { app: App; draft: SendDraft; onOpen: (draft: SendDraft) => void }) {
  const { app, draft, onOpen } = props;
  const { app_id, app_url } = app;
  const query = useOwnerQuery(signed("GET /frame/app/draft", { query: { app_id } }));
  const action = useAction();
  const save = () =>
    action.run(async () => {
      const name = draft.title.trim() === "" ? msg.untitled : draft.title.slice(0, 64);
      await sessionRequest({
        ...signed("POST /frame/app/draft", { body: { app_id, name, send: contentOf(draft, app_url) } }),
        access: "operate",
        words: msg.theNodeStoresTheDraft,
      });
      query.refresh();
      return msg.draftSaved;
    });
  const remove = (draft_id: string) =>
    action.run(async () => {
      await sessionRequest({
        ...signed("DELETE /frame/app/draft", { query: { draft_id } }),
        access: "operate",
        words: msg.theNodeDeletesTheDraft,
      });
      query.refresh();
      return undefined;
    });
  return (
    <>
      <OwnerRegion
        title={msg.drafts}
        query={query}
        aside={
          <ActionButton action={action} onClick={save}>
            {msg.saveDraft}
          </ActionButton>
        }
        isEmpty={({ drafts }) => drafts.length === 0}
        empty={msg.noDrafts}
      >
        {({ drafts }) => (
          <ul class="pad stack tight s">
            {drafts.map(({ draft_id, name, send, updated_at }) => (
              <li class="row wrap" key={draft_id}>
                <span class="grow">
                  <UserName name={name} />{" "}
                  <span class="dim">
                    <Time ago at={updated_at} />
                  </span>
                </span>
                <button type="button" class="btn" onClick={() => onOpen(formOf(send, app_url))}>
                  {msg.open}
                </button>
                <ActionButton action={action} kind="bad" onClick={() => remove(draft_id)}>
                  {msg.deleteIt}
                </ActionButton>
              </li>
            ))}
          </ul>
        )}
      </OwnerRegion>
      <Outcome action={action} />
    </>
  );
}
