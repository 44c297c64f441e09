import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useDraft } from "../../data/draft.ts";
import { RequestFailure } from "../../data/request.ts";
import { type OwnerOperation, runOperation } from "../../owner/operation.ts";
import { apiPrefix } from "../../page-config.ts";
import { Outcome, useAction } from "../action.tsx";
import { fromSubscription, type Subscription } from "./filter-state.ts";
import { FilterWords } from "./filter-words.tsx";
import { Secrets } from "./secrets.tsx";
import { useTrial } from "./trial.ts";
import { type Webhook, webhookCall, webhookFlags } from "./webhook.ts";
import { checkDraft, type WebhookDraft, WebhookForm } from "./webhook-form.tsx";

interface SettingsProps {
  readonly webhook: Webhook;
  readonly fid: number;
  readonly onChanged: () => void;
}

/** What the owner may change: each a signature of the wallet. */
export function Settings(props: SettingsProps) {
  const { webhook, onChanged } = props;
  return (
    <>
      <Edit {...props} />
      <SecretCard webhook={webhook} onChanged={onChanged} />
      <Danger webhook={webhook} />
    </>
  );
}

function draftOf({ title, target_url, description, subscription }: Webhook): WebhookDraft {
  const read = fromSubscription(subscription);
  const filter = "state" in read ? read.state : [];
  return { name: title, url: target_url, description: description ?? "", filter };
}

/** What is different from the record: several edits are one request. */
function changesOf(webhook: Webhook, draft: WebhookDraft, subscription: unknown): Record<string, unknown> {
  const before = draftOf(webhook);
  const changes: Record<string, unknown> = {};
  if (draft.name !== before.name) changes.name = draft.name;
  if (draft.url !== before.url) changes.url = draft.url;
  if (draft.description !== before.description)
    changes.description = draft.description === "" ? null : draft.description;
  if (JSON.stringify(draft.filter) !== JSON.stringify(before.filter)) changes.subscription = subscription;
  return changes;
}

function Edit({ webhook, fid, onChanged }: SettingsProps) {
  const id = webhook.webhook_id;
  const draft = useDraft<WebhookDraft>(`webhook ${id}`, () => draftOf(webhook));
  const [refusal, setRefusal] = useState<string>();
  const action = useAction();
  const check = checkDraft(draft.value, refusal);
  const changes = changesOf(webhook, draft.value, check.subscription);
  const changed = Object.keys(changes);
  const trial = useTrial(check.subscription, setRefusal);
  const save = () =>
    action.run(async () => {
      try {
        const subscription = changes.subscription as Subscription | undefined;
        const details = subscription && (
          <FilterWords subscription={subscription} preview={await trial.latest()} />
        );
        await runOperation({
          op: "webhook.update",
          method: "PUT",
          path: `${apiPrefix}/webhook`,
          body: { webhook_id: id, ...changes },
          title: "Change the webhook",
          words: `Its ${changed.map((field) => (field === "subscription" ? "filter" : field)).join(", ")} will change, for events from now on.`,
          ...(details && { details }),
          cli: `webhook update ${id}${webhookFlags(changes)}${changes.subscription === undefined ? "" : " --subscription -"}`,
          cliInput: changes.subscription,
        });
      } catch (cause) {
        if (cause instanceof RequestFailure && cause.status === 400) setRefusal(cause.message);
        throw cause;
      }
      draft.discard();
      onChanged();
      return "Saved.";
    });
  return (
    <WebhookForm
      draft={draft.value}
      check={check}
      trial={trial}
      ownerFid={fid}
      onChange={(next) => {
        setRefusal(undefined);
        draft.set(next);
      }}
      onSubmit={() => void save()}
    >
      <Outcome action={action} />
      <div class="row wrap">
        <button type="submit" class="btn go" disabled={changed.length === 0} aria-disabled={action.isBusy}>
          Sign and save
        </button>
        {changed.length === 0 && <span class="s dim">Nothing has changed.</span>}
      </div>
    </WebhookForm>
  );
}

function SecretCard({ webhook, onChanged }: Pick<SettingsProps, "webhook" | "onChanged">) {
  const id = webhook.webhook_id;
  const action = useAction();
  /** With their texts; in memory alone, until the page is left. */
  const [revealed, setRevealed] = useState<Webhook>();
  const show = (operation: OwnerOperation, done: string) =>
    action.run(async () => {
      setRevealed((await runOperation<{ webhook: Webhook }>(operation)).webhook);
      onChanged();
      return done;
    });
  const reveal = () =>
    show(
      {
        op: "webhook.read",
        method: "GET",
        path: webhookCall(id).path,
        title: "Reveal the secrets",
        words: "This page will show the secrets of the webhook until you leave it.",
        cli: `webhook get ${id}`,
      },
      "The secrets are shown.",
    );
  const rotate = () =>
    show(
      {
        op: "webhook.rotate_secret",
        method: "POST",
        path: `${apiPrefix}/webhook/secret/rotate?webhook_id=${id}`,
        title: "Rotate the secret",
        words:
          "The webhook gets a new secret. The present one signs beside it for the grace period, so that your receiver can change without a gap.",
        cli: `webhook rotate ${id}`,
      },
      "There is a new secret.",
    );
  return (
    <section class="card" aria-label="Secrets">
      <header>
        <h2 class="grow">Secrets</h2>
        <button type="button" class="btn" aria-disabled={action.isBusy} onClick={() => void reveal()}>
          Reveal
        </button>
        <button type="button" class="btn" aria-disabled={action.isBusy} onClick={() => void rotate()}>
          Rotate
        </button>
      </header>
      <div class="pad stack">
        <Secrets secrets={revealed?.secrets ?? webhook.secrets} />
        <Outcome action={action} />
      </div>
    </section>
  );
}

function Danger({ webhook }: Pick<SettingsProps, "webhook">) {
  const { route } = useLocation();
  const { webhook_id: id, title } = webhook;
  const action = useAction();
  const remove = () =>
    action.run(async () => {
      await runOperation({
        op: "webhook.delete",
        method: "DELETE",
        path: `${apiPrefix}/webhook?webhook_id=${id}`,
        title: "Delete the webhook",
        words: "The webhook, its queue and its deliveries will be gone. This cannot be undone.",
        typedName: title,
        cli: `webhook delete ${id}`,
      });
      route("/console/manage/webhooks");
      return "The webhook is deleted.";
    });
  return (
    <section class="card" aria-label="Delete">
      <div class="pad row wrap">
        <p class="grow roomy s dim">Deleting it ends all deliveries, also those that wait.</p>
        <button type="button" class="btn bad" aria-disabled={action.isBusy} onClick={() => void remove()}>
          Delete this webhook
        </button>
      </div>
      <Outcome action={action} />
    </section>
  );
}
