import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useDraft } from "../../data/draft.ts";
import { refreshShown } from "../../data/query.ts";
import { RequestFailure } from "../../data/request.ts";
import { runOperation } from "../../owner/operation.ts";
import { apiPrefix } from "../../page-config.ts";
import { ResultHeading } from "../../parts/page-head.tsx";
import { readFilters } from "../../stream/filters.ts";
import { Outcome, useAction } from "../action.tsx";
import { ManagePage } from "../manage-page.tsx";
import { fromStream } from "./filter-state.ts";
import { FilterWords } from "./filter-words.tsx";
import { Secrets } from "./secrets.tsx";
import { useTrial } from "./trial.ts";
import { type Webhook, webhookFlags, webhookPage } from "./webhook.ts";
import { checkDraft, type WebhookDraft, WebhookForm } from "./webhook-form.tsx";

const CRUMBS = [{ label: "Webhooks", href: "/console/manage/webhooks" }];

/** A new webhook: its filter, what that would have caught, its receiver. The query of the page is that of the stream. */
export function Page() {
  const { url } = useLocation();
  const at = url.indexOf("?");
  const search = at < 0 ? "" : url.slice(at);
  return (
    <ManagePage title="New webhook" crumbs={CRUMBS}>
      {({ fid }) => <NewWebhook fid={fid} search={search} key={`${fid} ${search}`} />}
    </ManagePage>
  );
}

function NewWebhook({ fid, search }: { fid: number; search: string }) {
  const draft = useDraft<WebhookDraft>(`webhook ${fid} ${search}`, () => ({
    name: "",
    url: "",
    description: "",
    filter: fromStream(readFilters(search)),
  }));
  const [refusal, setRefusal] = useState<string>();
  const [created, setCreated] = useState<Webhook>();
  const action = useAction();
  const check = checkDraft(draft.value, refusal);
  const { subscription } = check;
  const trial = useTrial(subscription, setRefusal);
  const { name, url, description } = draft.value;

  const create = () =>
    action.run(async () => {
      try {
        if (!subscription) return undefined;
        const details = <FilterWords subscription={subscription} preview={await trial.latest()} />;
        const { webhook } = await runOperation<{ webhook: Webhook }>({
          op: "webhook.create",
          method: "POST",
          path: `${apiPrefix}/webhook?owner_fid=${fid}`,
          body: { name, url, ...(description === "" ? {} : { description }), subscription },
          title: "Create a webhook",
          words: `The node will send events to ${url} for fid ${fid}, from now on, signed with a new secret.`,
          details,
          cli: `webhook create${webhookFlags({ name, url, ...(description !== "" && { description }) })} --subscription -`,
          cliInput: subscription,
        });
        draft.discard();
        setCreated(webhook);
        refreshShown();
        return "The webhook was created.";
      } catch (cause) {
        if (cause instanceof RequestFailure && cause.status === 400) setRefusal(cause.message);
        throw cause;
      }
    });

  if (created) return <Created webhook={created} />;
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
      onSubmit={() => void create()}
    >
      <Outcome action={action} />
      <div class="row wrap">
        <button type="submit" class="btn go" aria-disabled={action.isBusy}>
          Sign and create
        </button>
        <span class="s dim">One prompt of your wallet.</span>
      </div>
    </WebhookForm>
  );
}

/** The secret is in memory until the page is left. */
function Created({ webhook }: { webhook: Webhook }) {
  return (
    <section class="card" aria-label="The new webhook">
      <header>
        <ResultHeading>Copy its secret now</ResultHeading>
      </header>
      <div class="pad stack">
        <p class="measure">
          Your receiver verifies each request with it. This page forgets it when you leave; “Reveal” on the
          page of the webhook shows it again, for one signature.
        </p>
        <Secrets secrets={webhook.secrets} />
        <p>
          <a class="btn go" href={webhookPage(webhook.webhook_id)}>
            Open the webhook
          </a>
        </p>
      </div>
    </section>
  );
}
