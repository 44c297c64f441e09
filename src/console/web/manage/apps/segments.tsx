import { useState } from "preact/hooks";
import type { Schemas } from "../../data/call.ts";
import { ActionButton, Outcome, useAction } from "../../owner/action.tsx";
import { OwnerRegion, useOwnerQuery } from "../../owner/owner-data.tsx";
import { sessionRequest } from "../../owner/session-request.ts";
import { signed } from "../../owner/signed-call.ts";
import { draftOf, type FieldSpec, problemsOf, valuesOf, withoutNulls } from "../../parts/fields.ts";
import { Fields } from "../../parts/form.tsx";
import { Card } from "../../parts/region.tsx";
import { DataTable, timeOrNever } from "../../parts/table.tsx";
import * as msg from "../../text/en/manage/schedules.ts";
import { UserName } from "../../text/user-text.tsx";
import { PeopleField } from "../webhooks/chips.tsx";

const FIELDS = [
  { name: "name", label: msg.name, isRequired: true, maxChars: 128 },
  { name: "added_after", label: msg.addedAfter, kind: "date" },
  { name: "added_before", label: msg.addedBefore, kind: "date" },
  { name: "opened_within_days", label: msg.openedWithin, kind: "count", hint: msg.days },
  { name: "not_opened_within_days", label: msg.notOpenedWithin, kind: "count", hint: msg.days },
  { name: "following_fid", label: msg.following, kind: "fid" },
  { name: "channel_id", label: msg.channel, hint: msg.channelId },
  { name: "client_fids", label: msg.client, kind: "fids", hint: msg.fidsOfClients },
  { name: "fids", label: msg.people, kind: "fids", rows: 3, hint: msg.fidsOfPeople },
] as const satisfies readonly FieldSpec[];

const [NAME, ...CONDITIONS] = FIELDS;
/** The conditions that are typed. The person of `following_fid` is found by name instead. */
const TYPED = CONDITIONS.filter(({ name }) => name !== "following_fid");
type Segment = Schemas["AudienceSegment"];

/** The segments of an app. */
export const useSegments = (appId: string) =>
  useOwnerQuery(signed("GET /frame/app/segment", { query: { app_id: appId } }));

function problemsIn(draft: ReturnType<typeof emptySegment>) {
  const problems = problemsOf(FIELDS, draft);
  const { opened_within_days: opened, not_opened_within_days: notOpened } = valuesOf(FIELDS, draft);
  const tooMany = (days: number | null) => (days !== null && days > 30 ? msg.atMost30 : undefined);
  const both = opened !== null && notOpened !== null ? msg.oneOfBoth : undefined;
  const found = { opened_within_days: tooMany(opened), not_opened_within_days: tooMany(notOpened) ?? both };
  return {
    ...problems,
    ...Object.fromEntries(Object.entries(found).filter(([, fault]) => fault !== undefined)),
  };
}

const emptySegment = () => draftOf(FIELDS);
const draftOfSegment = ({ name, filter }: Segment) => draftOf(FIELDS, { name, ...filter });

/**
 * Returns the filter of the request without empty conditions. Values that the form cannot show exactly, such as an hour, stay unchanged.
 */
function filterOf(draft: ReturnType<typeof emptySegment>, edited: Segment | undefined) {
  const { name: _, client_fids, fids, ...others } = valuesOf(FIELDS, draft);
  const typed = {
    ...others,
    client_fids: client_fids.length > 0 ? client_fids : null,
    fids: fids.length > 0 ? fids : null,
  };
  if (!edited) return withoutNulls(typed);
  const before = draftOfSegment(edited);
  const changed = Object.entries(typed).filter(
    ([name]) => draft[name as keyof typeof draft] !== before[name as keyof typeof draft],
  );
  return withoutNulls({ ...edited.filter, ...Object.fromEntries(changed) });
}

/** Keeps it short, because the list of people may be long. */
const MAX_SHOWN_CHARS = 60;

/** Returns a condition in words. */
function conditionText(draft: ReturnType<typeof emptySegment>, { name, label }: (typeof CONDITIONS)[number]) {
  const text = draft[name];
  return `${label}: ${text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text}`;
}

function Conditions({ segment }: { segment: Segment }) {
  const draft = draftOfSegment(segment);
  const zones = segment.filter.time_zones?.join(", ");
  return (
    <ul class="s">
      {CONDITIONS.filter(({ name }) => draft[name] !== "").map((field) => (
        <li key={field.name}>
          <bdi>{conditionText(draft, field)}</bdi>
        </li>
      ))}
      {zones !== undefined && (
        <li>
          <bdi>{msg.inZones(zones)}</bdi>
        </li>
      )}
    </ul>
  );
}

/** Filters to which sends can refer. */
export function SegmentsTab({ appId }: { appId: string }) {
  const query = useSegments(appId);
  const [draft, setDraft] = useState(emptySegment);
  const [edited, setEdited] = useState<Segment>();
  const edit = (segment: Segment | undefined) => {
    setEdited(segment);
    setFollowed("");
    setDraft(segment ? draftOfSegment(segment) : emptySegment());
    // The clicked button disappears, or the form is elsewhere on the page.
    document.getElementById("segment-name")?.focus();
  };
  const action = useAction();
  const [followed, setFollowed] = useState("");
  const problems = problemsIn(draft);
  const hasCondition = Object.keys(filterOf(draft, edited)).length > 0;
  const missing = draft.name === "" ? msg.nameItFirst : hasCondition ? undefined : msg.setACondition;
  const isReady = missing === undefined && followed.trim() === "" && Object.keys(problems).length === 0;
  const save = () =>
    action.run(async () => {
      await sessionRequest({
        ...signed("POST /frame/app/segment", {
          body: {
            app_id: appId,
            ...(edited && { segment_id: edited.segment_id }),
            name: draft.name,
            filter: filterOf(draft, edited),
          },
        }),
        access: "operate",
        words: msg.theNodeStoresTheSegment,
      });
      edit(undefined);
      query.refresh();
      return msg.segmentSaved;
    });
  const remove = (segment_id: string) =>
    action.run(async () => {
      await sessionRequest({
        ...signed("DELETE /frame/app/segment", { query: { segment_id } }),
        access: "operate",
        words: msg.theNodeDeletesTheSegment,
      });
      if (edited?.segment_id === segment_id) edit(undefined);
      query.refresh();
      return undefined;
    });
  return (
    <div class="split even">
      <OwnerRegion
        title={msg.segments}
        query={query}
        isEmpty={({ segments }) => segments.length === 0}
        empty={msg.noSegments}
      >
        {({ segments }) => (
          <DataTable
            stacks
            label={msg.segments}
            rows={segments}
            keyOf={({ segment_id }) => segment_id}
            columns={[
              { title: msg.name, cell: ({ name }) => <UserName name={name} /> },
              { title: msg.conditions, cell: (segment) => <Conditions segment={segment} /> },
              { title: msg.changedAt, cell: ({ updated_at: at }) => timeOrNever(at) },
              {
                title: msg.actions,
                cell: (segment) => (
                  <span class="row wrap">
                    <ActionButton action={action} onClick={() => edit(segment)}>
                      {msg.editIt}
                    </ActionButton>
                    <ActionButton action={action} kind="bad" onClick={() => remove(segment.segment_id)}>
                      {msg.deleteIt}
                    </ActionButton>
                  </span>
                ),
              },
            ]}
          />
        )}
      </OwnerRegion>
      <Card title={edited ? msg.editSegment : msg.newSegment}>
        <p class="s dim">{msg.allConditionsHold}</p>
        <Fields form="segment" fields={[NAME]} draft={draft} problems={problems} onChange={setDraft} />
        <PeopleField
          label={msg.following}
          name="segment-following"
          values={draft.following_fid === "" ? [] : [draft.following_fid]}
          typed={followed}
          onChange={(fids, text) => {
            setFollowed(text);
            setDraft({ ...draft, following_fid: fids.at(-1) ?? "" });
          }}
          problem={followed.trim() === "" ? undefined : msg.chooseAPerson}
        />
        <Fields form="segment" fields={TYPED} draft={draft} problems={problems} onChange={setDraft} />
        <Outcome action={action} />
        {edited && <p class="s dim">{msg.scheduledSendsKeepIt}</p>}
        <div class="row wrap">
          <button
            type="button"
            class="btn go"
            disabled={!isReady}
            aria-disabled={action.isBusy}
            onClick={() => void save()}
          >
            {msg.saveSegment}
          </button>
          {missing !== undefined && <span class="s dim">{missing}</span>}
          {edited && (
            <button type="button" class="btn" onClick={() => edit(undefined)}>
              {msg.stopEditing}
            </button>
          )}
        </div>
      </Card>
    </div>
  );
}
