import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";

import { NotificationPreview } from "../../../content/notification.tsx";
import type { ResponseOf } from "../../../data/call.ts";
import { useDraft } from "../../../data/draft.ts";
import { useAction } from "../../../owner/action.tsx";
import type { SignedCall } from "../../../owner/operation.ts";
import { type OwnerQuery, OwnerRegion, useOwnerQuery } from "../../../owner/owner-data.tsx";
import { signed } from "../../../owner/signed-call.ts";
import { obstacleOf, readFidList } from "../../../parts/fields.ts";
import { Fields, Radios } from "../../../parts/form.tsx";
import * as msg from "../../../text/en/manage/apps.ts";
import { formatCount } from "../../../text/format.ts";
import { plainName } from "../../../text/name.ts";
import { SignedForm } from "../../action.tsx";
import { type App, appPath } from "../apps.tsx";
import { ClientName, useClients } from "../audience-card.tsx";

import {
  AUDIENCE_FIELDS,
  audienceOf,
  draftName,
  emptyDraft,
  NOTIFICATION_FIELDS,
  notificationOf,
  type SendDraft,
  type SendProblems,
  sendProblems,
} from "../campaign.ts";
import { campaignPath } from "../campaign-results.tsx";
import { FirstSendCheck } from "../manifest-check.tsx";
import { useSegments } from "../segments.tsx";
import { DraftsCard } from "./drafts.tsx";
import {
  emptySchedule,
  SCHEDULE_FIELDS,
  type ScheduleDraft,
  ScheduleFields,
  SegmentChoice,
  scheduleOf,
  scheduleProblems,
  secondOf,
  whenOf,
} from "./schedule-fields.tsx";

const ESTIMATE = "POST /frame/app/campaign/estimate";
type Estimate = ResponseOf<typeof ESTIMATE>;

const SETTLE_MS = 400;

/** Returns the signed read that counts the audience of the draft; undefined while the draft is invalid. */
function estimateCall(appId: string, draft: SendDraft, problems: SendProblems) {
  const audience = audienceOf(draft, problems);
  if (!audience) return undefined;
  // The node can only find out who already has the notification from a complete, valid one.
  const isRepeated = draft.uuid !== undefined && Object.keys(problems).length === 0;
  const notification = isRepeated ? { notification: notificationOf(draft) } : {};
  const segment = draft.schedule?.segment_id ? { segment_id: draft.schedule.segment_id } : {};
  return signed(ESTIMATE, { body: { app_id: appId, ...notification, ...audience, ...segment } });
}

const bodyOf = (call: SignedCall | undefined) => JSON.stringify(call?.body ?? null);

interface EstimateQuery {
  readonly query: OwnerQuery<Estimate>;
  /** The estimate of the current draft; undefined while it is counted. */
  readonly current: Estimate | undefined;
}

/** Counts the audience of a draft while its filters are valid. Waits for a pause in typing. */
function useEstimate(appId: string, draft: SendDraft, problems: SendProblems): EstimateQuery {
  const wanted = estimateCall(appId, draft, problems);
  const key = bodyOf(wanted);
  const [call, setCall] = useState(wanted);
  useEffect(() => {
    const timer = setTimeout(() => setCall(wanted), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [key]);
  const query = useOwnerQuery(call);
  return { query, current: bodyOf(call) === key ? query.data : undefined };
}

function Clients({ clients }: Pick<Estimate, "clients">) {
  const users = useClients(clients.map(({ client_fid }) => client_fid));
  return (
    <ul class="stack tight s">
      {clients.map(({ client_fid, host, tokens }) => (
        <li class="row" key={`${client_fid} ${host}`}>
          <span class="grow">
            <ClientName fid={client_fid} users={users} /> <span class="dim mono">{host}</span>
          </span>
          <b>{formatCount(tokens)}</b>
        </li>
      ))}
    </ul>
  );
}

/** The audience of a draft. */
function EstimateCard({ query }: { query: OwnerQuery<Estimate> }) {
  return (
    <OwnerRegion
      title={msg.recipients}
      query={query}
      isEmpty={({ tokens }) => tokens === 0}
      empty={msg.noRecipientsNoEnabledTokenPasses}
    >
      {({ tokens, fids, sent_before, clients }) => (
        <div class="pad stack" aria-live="polite" data-estimate={tokens}>
          <p>
            {msg.withLabel(
              <b>{msg.countPeople(fids)}</b>,
              msg.countTokens(tokens),
              sent_before > 0 && msg.ofThemHaveItAlreadyAnd(formatCount(sent_before)),
            )}
          </p>
          <Clients clients={clients} />
        </div>
      )}
    </OwnerRegion>
  );
}

interface FormProps {
  readonly draft: SendDraft;
  readonly problems: SendProblems;
  readonly onChange: (draft: SendDraft) => void;
}

function Recipients(props: FormProps & { segment: string | undefined; children: ComponentChildren }) {
  const { draft, problems, onChange, segment, children } = props;
  const { audience, target_fids, exclude_fids, following_fid, uuid } = draft;
  const [targets, ...filters] = AUDIENCE_FIELDS;
  const { fids } = readFidList(target_fids);
  const hint = fids.length === 0 ? targets.hint : msg.countPeople(fids.length);
  return (
    <fieldset>
      <legend>{msg.audience}</legend>
      <Radios
        name="send-audience"
        options={[
          ["everyone", segment === undefined ? msg.everyoneWhoHasTheApp : msg.everyoneIn(plainName(segment))],
          ["some", msg.someOfThem],
        ]}
        value={audience}
        onChange={(one) => onChange({ ...draft, audience: one })}
      />
      {audience === "some" && (
        <Fields
          form="send"
          fields={[{ ...targets, hint }]}
          draft={draft}
          problems={problems}
          onChange={onChange}
        />
      )}
      {children}
      <details open={exclude_fids !== "" || following_fid !== ""}>
        <summary>{msg.narrowItDown}</summary>
        <div class="stack">
          <Fields form="send" fields={filters} draft={draft} problems={problems} onChange={onChange} />
        </div>
      </details>
      {uuid !== undefined && (
        <div class="stack tight s">
          <span>{msg.thisNotificationWasSentBefore}</span>
          <button type="button" class="btn quiet" onClick={() => onChange({ ...draft, uuid: undefined })}>
            {msg.makeItANewOne}
          </button>
        </div>
      )}
    </fieldset>
  );
}

interface Words {
  readonly draft: SendDraft;
  readonly estimate: Estimate | undefined;
  readonly schedule: ScheduleDraft | undefined;
  /** The name of the segment. */
  readonly segment: string | undefined;
}

/** Returns the effect of the signature in words: who gets which text, and when. */
function wordsOf({ draft: { title }, estimate, schedule, segment }: Words): string {
  const when = schedule && whenOf(schedule);
  const counted =
    estimate &&
    `${msg.countPeople(estimate.fids)} (${msg.countTokens(estimate.tokens - estimate.sent_before)})`;
  const people =
    counted && when !== undefined ? msg.asOfNow(counted) : (counted ?? msg.everyoneTheFormSelects);
  const recipients = segment === undefined ? people : msg.inSegment(people, segment);
  const sentence =
    when === undefined
      ? msg.isSentToANotificationCannot(title, recipients)
      : msg.isScheduledFor(title, when, recipients);
  const second = schedule && secondOf(schedule);
  return second === undefined ? sentence : `${sentence} ${msg.halfOfThemGet(second)}`;
}

/** A notification: its text, audience, preview and estimate, and the one prompt that sends it. */
export function SendForm({ app }: { app: App }) {
  const { app_id, app_url, name } = app;
  const { route } = useLocation();
  const { value: draft, set, discard } = useDraft<SendDraft>(draftName(app_id), () => emptyDraft(app_url));
  const action = useAction();
  const problems = sendProblems(draft, app_url);
  // A notification that is sent again has its id, and therefore its campaign, from the start.
  const schedule = draft.uuid === undefined ? (draft.schedule ?? emptySchedule) : undefined;
  const obstacle = obstacleOf([...NOTIFICATION_FIELDS, ...AUDIENCE_FIELDS, ...SCHEDULE_FIELDS], {
    ...problems,
    ...(schedule && scheduleProblems(schedule)),
  });
  const when = schedule && whenOf(schedule);
  const segments = useSegments(app_id).data?.segments ?? [];
  const segment = segments.find((one) => one.segment_id === schedule?.segment_id)?.name;
  const { query, current } = useEstimate(app_id, draft, problems);
  const setSchedule = (next: ScheduleDraft) => set({ ...draft, schedule: next });

  async function send() {
    const sent = await action.operate({
      ...signed("POST /frame/app/campaign", {
        body: {
          app_id,
          notification: notificationOf(draft),
          ...audienceOf(draft, {}),
          ...(schedule && scheduleOf(schedule)),
        },
      }),
      title: msg.sendTheNotification,
      words: wordsOf({ draft, estimate: current, schedule, segment }),
    });
    if (!sent) return;
    discard();
    route(sent.status === "scheduled" ? appPath(app_id, "scheduled") : campaignPath(sent.campaign_id));
  }
  return (
    <div class="split">
      <SignedForm
        title={msg.sendANotification}
        label={
          when !== undefined
            ? msg.signAndSchedule
            : current === undefined
              ? msg.signAndSend
              : msg.signAndSendTo(formatCount(current.fids))
        }
        note={msg.oneWalletSignatureNoSecretIs}
        action={action}
        obstacle={obstacle}
        onSign={send}
      >
        <fieldset>
          <legend>{msg.message}</legend>
          <Fields form="send" fields={NOTIFICATION_FIELDS} draft={draft} problems={problems} onChange={set} />
        </fieldset>
        <Recipients draft={draft} problems={problems} onChange={set} segment={segment}>
          {schedule && segments.length > 0 && (
            <SegmentChoice segments={segments} draft={schedule} onChange={setSchedule} />
          )}
          {schedule && segments.length === 0 && (
            <p class="s dim">
              {msg.aSegmentIs(<a href={appPath(app_id, "segments")}>{msg.saveASegment}</a>)}
            </p>
          )}
        </Recipients>
        {schedule && <ScheduleFields draft={schedule} onChange={setSchedule} />}
      </SignedForm>
      <div class="stack">
        <NotificationPreview appId={app_id} appName={name} title={draft.title} body={draft.body} />
        <EstimateCard query={query} />
        <DraftsCard app={app} draft={draft} onOpen={set} />
        <FirstSendCheck app={app} />
      </div>
    </div>
  );
}
