import { useLocation } from "preact-iso";
import { useDraft } from "../../data/draft.ts";
import { formatCount, plural } from "../../data/format.ts";
import { Field } from "../../parts/field.tsx";
import { Outcome, useAction } from "../action.tsx";
import { campaignPath } from "../campaigns/campaign-calls.ts";
import { readFidList } from "../fid-list.ts";
import type { App } from "./app.ts";
import { type Estimate, EstimateCard, useEstimate } from "./estimate-card.tsx";
import { NotificationPreview } from "./notification-preview.tsx";
import { sendOperation } from "./send-calls.ts";
import {
  charsOf,
  draftName,
  emptyDraft,
  MAX_BODY_CHARS,
  MAX_TITLE_CHARS,
  problemsOf,
  type SendDraft,
  type SendProblems,
} from "./send-draft.ts";

type Change = (changes: Partial<SendDraft>) => void;

const counted = (text: string, max: number) => `${charsOf(text)} of ${max} characters`;

function Message({ draft, problems, change }: { draft: SendDraft; problems: SendProblems; change: Change }) {
  // An empty field is not yet a mistake.
  const shown = (text: string, problem: string | undefined) => (text === "" ? undefined : problem);
  return (
    <fieldset>
      <legend>What</legend>
      <Field
        label="Title"
        name="send-title"
        value={draft.title}
        onInput={(title) => change({ title })}
        hint={<span data-count="title">{counted(draft.title, MAX_TITLE_CHARS)}</span>}
        problem={shown(draft.title, problems.title)}
      />
      <Field
        label="Text"
        name="send-body"
        rows={3}
        value={draft.body}
        onInput={(body) => change({ body })}
        hint={<span data-count="body">{counted(draft.body, MAX_BODY_CHARS)}</span>}
        problem={shown(draft.body, problems.body)}
      />
      <Field
        label="Opens"
        name="send-url"
        type="url"
        value={draft.targetUrl}
        onInput={(targetUrl) => change({ targetUrl })}
        hint="A page of your app."
        problem={shown(draft.targetUrl, problems.targetUrl)}
      />
    </fieldset>
  );
}

function Recipients({
  draft,
  problems,
  change,
}: {
  draft: SendDraft;
  problems: SendProblems;
  change: Change;
}) {
  const { fids } = readFidList(draft.targetFids);
  return (
    <fieldset>
      <legend>Who</legend>
      <div class="checks">
        {(["everyone", "some"] as const).map((audience) => (
          <label key={audience}>
            <input
              type="radio"
              name="send-audience"
              checked={draft.audience === audience}
              onChange={() => change({ audience })}
            />
            {audience === "everyone" ? "Everybody who has the app" : "Some of them"}
          </label>
        ))}
      </div>
      {draft.audience === "some" && (
        <Field
          label="Their fids"
          name="send-targets"
          rows={3}
          value={draft.targetFids}
          onInput={(targetFids) => change({ targetFids })}
          hint={
            fids.length === 0
              ? "Numbers, separated by spaces or commas."
              : plural(fids.length, "person", "people")
          }
          problem={draft.targetFids === "" ? undefined : problems.targetFids}
        />
      )}
      <details open={draft.excludeFids !== "" || draft.followingFid !== ""}>
        <summary>Narrow it down</summary>
        <div class="stack">
          <Field
            label="Without these fids"
            name="send-excluded"
            value={draft.excludeFids}
            onInput={(excludeFids) => change({ excludeFids })}
            problem={problems.excludeFids}
          />
          <Field
            label="Only followers of"
            name="send-following"
            value={draft.followingFid}
            onInput={(followingFid) => change({ followingFid })}
            hint="An fid."
            problem={problems.followingFid}
          />
        </div>
      </details>
      {draft.uuid !== undefined && (
        <div class="stack tight s">
          <span>This notification was sent before: people who have it do not get it twice.</span>
          <button type="button" class="btn quiet" onClick={() => change({ uuid: undefined })}>
            Make it a new one
          </button>
        </div>
      )}
    </fieldset>
  );
}

function wordsOf(title: string, estimate: Estimate | undefined): string {
  const reach =
    estimate === undefined
      ? "to everybody that the form names"
      : `to ${plural(estimate.fids, "person", "people")} (${plural(estimate.tokens - estimate.sent_before, "token")})`;
  return `“${title}” goes ${reach}. What was sent cannot be called back.`;
}

/** A notification: its text, its audience, its preview, its estimate, and the one prompt that sends it. */
export function SendForm({ app }: { app: App }) {
  const { route } = useLocation();
  const { app_id, app_url, name } = app;
  const draft = useDraft<SendDraft>(draftName(app_id), () => emptyDraft(app_url));
  const action = useAction();
  const { value } = draft;
  const problems = problemsOf(value, app_url);
  const estimate = useEstimate(app_id, value, problems);
  const change: Change = (changes) => draft.set({ ...value, ...changes });
  const isComplete = Object.keys(problems).length === 0;

  async function send() {
    const operation = sendOperation(app_id, value, wordsOf(value.title, estimate.current));
    const sent = await action.operate<{ campaign_id: string }>(operation);
    if (!sent) return;
    draft.discard();
    route(campaignPath(sent.campaign_id));
  }
  return (
    <div class="split">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          if (isComplete) void send();
        }}
      >
        <header>
          <h2 class="grow">Send a notification</h2>
        </header>
        <div class="pad stack">
          <Message draft={value} problems={problems} change={change} />
          <Recipients draft={value} problems={problems} change={change} />
          <Outcome action={action} />
          <div class="row wrap">
            <button type="submit" class="btn go" disabled={!isComplete} aria-disabled={action.isBusy}>
              {estimate.current === undefined
                ? "Sign and send"
                : `Sign and send to ${formatCount(estimate.current.fids)}`}
            </button>
            <span class="s dim">One prompt of your wallet. No secret is needed.</span>
          </div>
        </div>
      </form>
      <div class="stack">
        <NotificationPreview appId={app_id} appName={name} title={value.title} body={value.body} />
        <EstimateCard estimate={estimate} />
      </div>
    </div>
  );
}
