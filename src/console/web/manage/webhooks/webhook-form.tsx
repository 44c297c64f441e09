import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { useDraft } from "../../data/draft.ts";
import { RequestFailure } from "../../data/request.ts";
import { UseDemoReceiver } from "../../demo/receivers.tsx";
import { useAction } from "../../owner/action.tsx";
import { runOperation } from "../../owner/operation.ts";
import { signed } from "../../owner/signed-call.ts";
import {
  changesOf,
  type Draft,
  obstacleOf,
  type Problems,
  problemsOf,
  valuesOf,
} from "../../parts/fields.ts";
import { Fields, focusField } from "../../parts/form.tsx";
import { Card } from "../../parts/region.tsx";
import * as msg from "../../text/en/manage/webhooks.ts";
import { DeleteCard, SecretsCard, SignButton } from "../action.tsx";
import { FilterBuilder } from "./filter-builder.tsx";
import {
  type FilterProblem,
  type FilterState,
  fromSubscription,
  problemNamed,
  type Subscription,
  toSubscription,
} from "./filter-state.ts";
import { FilterWords } from "./filter-words.tsx";
import { PreviewBox, type Trial, useTrial } from "./preview.tsx";
import {
  RECEIVER_FIELDS,
  updateWebhook,
  WEBHOOKS_PATH,
  type Webhook,
  type WebhookChanges,
  webhookCall,
} from "./webhooks.tsx";

/** What an owner enters for a webhook. */
export type WebhookDraft = Draft<typeof RECEIVER_FIELDS> & {
  readonly filter: FilterState;
  /** JSON that was entered instead of the filter and is not a subscription yet. */
  readonly json?: string | undefined;
};

/** Returns the receiver in the API's format. */
export const receiverOf = (draft: WebhookDraft) => valuesOf(RECEIVER_FIELDS, draft) as Receiver;

interface Receiver {
  readonly name: string;
  readonly url: string;
  readonly description: string | null;
}

/** What is wrong with a draft, according to the page or to the API. */
export interface DraftCheck {
  readonly subscription: Subscription | undefined;
  readonly problems: readonly FilterProblem[];
  /** The problems of the receiver. */
  readonly fields: Problems<typeof RECEIVER_FIELDS>;
  /** What the receiver still needs; undefined if nothing is missing. */
  readonly obstacle: string | undefined;
}

/** @param refusal the API's message about the draft, if it refused. */
export function checkDraft(draft: WebhookDraft, refusal: string | undefined): DraftCheck {
  const { filter, json } = draft;
  const written = toSubscription(filter);
  const named = refusal === undefined ? undefined : problemNamed(filter, refusal);
  const refused = RECEIVER_FIELDS.find(({ name }) => refusal?.startsWith(`${name} `))?.name;
  return {
    subscription: "subscription" in written && json === undefined ? written.subscription : undefined,
    problems: "problems" in written ? written.problems : named ? [named] : [],
    fields: refused === undefined ? {} : { [refused]: refusal },
    obstacle: obstacleOf(RECEIVER_FIELDS, problemsOf(RECEIVER_FIELDS, draft)),
  };
}

/** The API's message about a draft, if it refused. */
export function useRefusal() {
  const [refusal, setRefusal] = useState<string>();
  return {
    refusal,
    setRefusal,
    /** Runs it, and notes the message if the API refused. */
    async noting<T>(work: () => Promise<T>): Promise<T> {
      try {
        return await work();
      } catch (cause) {
        if (cause instanceof RequestFailure && cause.status === 400) setRefusal(cause.message);
        throw cause;
      }
    },
  };
}

/**
 * The form of a webhook: its filter, what that would have matched, its receiver, and `children` below. It is not sent while its filter
 * has a problem: the field concerned is marked and gets the focus.
 */
export function WebhookForm(props: {
  draft: WebhookDraft;
  check: DraftCheck;
  ownerFid: number;
  onChange: (draft: WebhookDraft) => void;
  /** Called with the API's message; undefined if it did not refuse. */
  onRefusal: (message: string | undefined) => void;
  /** Called with a function that returns what the filter would have matched. */
  onSubmit: (preview: Trial["latest"]) => unknown;
  children: ComponentChildren;
}) {
  const { draft, check, ownerFid, onChange, onRefusal, onSubmit, children } = props;
  const { subscription } = check;
  const trial = useTrial(subscription, onRefusal);
  const [isRefused, setRefused] = useState(false);
  /** The node may need a while to create a receiver, during which the form may be edited. */
  const latest = useRef(draft);
  latest.current = draft;
  const change = (next: WebhookDraft) => {
    onRefusal(undefined);
    onChange(next);
  };
  return (
    <form
      class="build"
      onSubmit={(event) => {
        event.preventDefault();
        setRefused(subscription === undefined);
        if (subscription !== undefined) void onSubmit(trial.latest);
        else focusField(event.currentTarget.querySelector<HTMLElement>('[aria-invalid="true"]'));
      }}
    >
      <FilterBuilder
        state={draft.filter}
        json={draft.json}
        onChange={(filter, json) => change({ ...draft, filter, json })}
        problems={check.problems}
      />
      <PreviewBox subscription={subscription} trial={trial} />
      <div class="stack">
        <Card title={msg.receiver}>
          <Fields
            form="webhook"
            fields={RECEIVER_FIELDS}
            draft={draft}
            problems={check.fields}
            onChange={change}
          />
          <UseDemoReceiver ownerFid={ownerFid} onUrl={(url) => change({ ...latest.current, url })} />
        </Card>
        {isRefused && subscription === undefined && (
          <p class="problem" role="alert">
            {msg.nothingWasSentTheFilterHas}
          </p>
        )}
        {children}
      </div>
    </form>
  );
}

interface SettingsProps {
  readonly webhook: Webhook;
  readonly fid: number;
  readonly onChanged: () => void;
}

/** What the owner may change; each change needs a signature of the wallet. */
export function Settings(props: SettingsProps) {
  const { webhook, onChanged } = props;
  const { webhook_id, title } = webhook;
  return (
    <>
      <Edit {...props} />
      <SecretsCard
        secrets={webhook.secrets}
        secretsOf={(response) => response.webhook.secrets}
        reveal={{
          ...webhookCall(webhook_id),
          title: msg.revealTheSecrets,
          words: msg.thisPageWillShowTheSecrets,
        }}
        rotate={{
          ...signed("POST /webhook/secret/rotate", { query: { webhook_id } }),
          title: msg.rotateTheSecret,
          words: msg.theWebhookGetsANewSecret,
        }}
        onChanged={onChanged}
      />
      <DeleteCard
        operation={{
          ...signed("DELETE /webhook", { query: { webhook_id } }),
          title: msg.deleteTheWebhook,
          words: msg.theWebhookItsQueueAndIts,
          typedName: title,
        }}
        listPath={WEBHOOKS_PATH}
      >
        {msg.deletingItEndsAllDeliveriesAlso}
      </DeleteCard>
    </>
  );
}

function draftOf({ title, target_url, description, subscription }: Webhook): WebhookDraft {
  const read = fromSubscription(subscription);
  const filter = "state" in read ? read.state : [];
  return { name: title, url: target_url, description: description ?? "", filter };
}

function Edit({ webhook, fid, onChanged }: SettingsProps) {
  const id = webhook.webhook_id;
  const before = draftOf(webhook);
  const draft = useDraft<WebhookDraft>(`webhook ${id}`, () => before);
  const { refusal, setRefusal, noting } = useRefusal();
  const action = useAction();
  const check = checkDraft(draft.value, refusal);
  const { subscription } = check;
  const isFilterChanged = JSON.stringify(draft.value.filter) !== JSON.stringify(before.filter);
  const changes: WebhookChanges = {
    ...changesOf(receiverOf(before), receiverOf(draft.value)),
    ...(isFilterChanged && subscription && { subscription }),
  };
  const changed = Object.keys(changes);
  const isChanged = changed.length > 0 || isFilterChanged;
  return (
    <WebhookForm
      draft={draft.value}
      check={check}
      ownerFid={fid}
      onRefusal={setRefusal}
      onChange={draft.set}
      onSubmit={(preview) =>
        action.run(() =>
          noting(async () => {
            const { subscription: next } = changes;
            await runOperation({
              ...updateWebhook(id, changes),
              title: msg.changeTheWebhook,
              words: msg.itsWillChangeForEventsFrom(
                changed.map((field) => (field === "subscription" ? "filter" : field)).join(", "),
              ),
              ...(next && { details: <FilterWords subscription={next} preview={await preview()} /> }),
            });
            draft.discard();
            onChanged();
            return "Saved.";
          }),
        )
      }
    >
      <SignButton
        action={action}
        obstacle={check.obstacle ?? (isChanged ? undefined : msg.nothingHasChanged)}
        note=""
      >
        {msg.signAndSave}
      </SignButton>
    </WebhookForm>
  );
}
