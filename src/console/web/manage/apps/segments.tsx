import { useState } from "preact/hooks";
import { ActionButton, Outcome, useAction } from "../../owner/action.tsx";
import { OwnerRegion, useOwnerQuery } from "../../owner/owner-data.tsx";
import { sessionRequest } from "../../owner/session-request.ts";
import { signed } from "../../owner/signed-call.ts";
import { draftOf, type FieldSpec, problemsOf, valuesOf, withoutNulls } from "../../parts/fields.ts";
import { Fields } from "../../parts/form.tsx";
import { Card } from "../../parts/region.tsx";
import { DataTable } from "../../parts/table.tsx";
import * as msg from "../../text/en/manage/schedules.ts";
import { UserName } from "../../text/user-text.tsx";

const FIELDS = [
  { name: "name", label: msg.name, isRequired: true, maxChars: 128 },
  { name: "added_after", label: msg.addedAfter, kind: "date" },
  { name: "added_before", label: msg.addedBefore, kind: "date" },
  { name: "opened_within_days", label: msg.openedWithin, kind: "count", hint: msg.days },
  { name: "not_opened_within_days", label: msg.notOpenedWithin, kind: "count", hint: msg.days },
  { name: "following_fid", label: msg.following, kind: "fid", hint: msg.anFid },
  { name: "channel_id", label: msg.channel, hint: msg.channelId },
  { name: "client_fids", label: msg.client, kind: "fids", hint: msg.fidsOfClients },
  { name: "fids", label: msg.people, kind: "fids", rows: 3, hint: msg.fidsOfPeople },
] as const satisfies readonly FieldSpec[];

const [NAME, ...CONDITIONS] = FIELDS;

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

/** The filter of the request: without what is empty. */
function filterOf(draft: ReturnType<typeof emptySegment>) {
  const { name: _, client_fids, fids, ...others } = valuesOf(FIELDS, draft);
  return withoutNulls({
    ...others,
    client_fids: client_fids.length > 0 ? client_fids : null,
    fids: fids.length > 0 ? fids : null,
  });
}

/** Filters that sends can name. */
export function SegmentsTab({ appId }: { appId: string }) {
  const query = useSegments(appId);
  const [draft, setDraft] = useState(emptySegment);
  const action = useAction();
  const problems = problemsIn(draft);
  const hasCondition = Object.keys(filterOf(draft)).length > 0;
  const isReady = draft.name !== "" && hasCondition && Object.keys(problems).length === 0;
  const save = () =>
    action.run(async () => {
      await sessionRequest({
        ...signed("POST /frame/app/segment", {
          body: { app_id: appId, name: draft.name, filter: filterOf(draft) },
        }),
        access: "operate",
        words: msg.theNodeStoresTheSegment,
      });
      setDraft(emptySegment());
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
              { title: msg.conditions, cell: ({ filter }) => Object.keys(filter).length },
              {
                title: "",
                cell: ({ segment_id }) => (
                  <ActionButton action={action} kind="bad" onClick={() => remove(segment_id)}>
                    {msg.deleteIt}
                  </ActionButton>
                ),
              },
            ]}
          />
        )}
      </OwnerRegion>
      <Card title={msg.newSegment}>
        <p class="s dim">{msg.allConditionsHold}</p>
        <Fields form="segment" fields={[NAME]} draft={draft} problems={problems} onChange={setDraft} />
        <Fields form="segment" fields={CONDITIONS} draft={draft} problems={problems} onChange={setDraft} />
        <Outcome action={action} />
        <div>
          <button
            type="button"
            class="btn go"
            disabled={!isReady}
            aria-disabled={action.isBusy}
            onClick={() => void save()}
          >
            {msg.saveSegment}
          </button>
        </div>
      </Card>
    </div>
  );
}
