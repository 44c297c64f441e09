import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useDraft } from "../../data/draft.ts";
import { refreshShown } from "../../data/query.ts";
import { useAction } from "../../owner/action.tsx";
import { runOperation } from "../../owner/operation.ts";
import { signed } from "../../owner/signed-call.ts";
import { withoutNulls } from "../../parts/fields.ts";
import { ResultHeading } from "../../parts/page-head.tsx";
import { readFilters } from "../../stream/filters.ts";
import * as msg from "../../text/en/manage/webhooks.ts";
import { Secrets, SignButton } from "../action.tsx";
import { ManagePage } from "../manage-page.tsx";
import { fromStream } from "./filter-state.ts";
import { FilterWords } from "./filter-words.tsx";
import { checkDraft, receiverOf, useRefusal, type WebhookDraft, WebhookForm } from "./webhook-form.tsx";
import { WEBHOOKS_PATH, type Webhook, webhookPage } from "./webhooks.tsx";

/** A new webhook: its filter, what that would have matched, and its receiver. The query of the page is that of the stream. */
export function Page() {
  const { url } = useLocation();
  const at = url.indexOf("?");
  const search = at < 0 ? "" : url.slice(at);
  return (
    <ManagePage title={msg.newWebhook} crumbs={[{ label: msg.webhooks, href: WEBHOOKS_PATH }]}>
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
  const { refusal, setRefusal, noting } = useRefusal();
  const [created, setCreated] = useState<Webhook>();
  const action = useAction();
  const check = checkDraft(draft.value, refusal);
  const { subscription } = check;

  if (created) return <Created webhook={created} />;
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
            if (!subscription) return undefined;
            const receiver = receiverOf(draft.value);
            const { webhook } = await runOperation({
              ...signed("POST /webhook", {
                query: { owner_fid: fid },
                body: { ...withoutNulls(receiver), subscription },
              }),
              title: msg.createAWebhook,
              words: msg.theNodeWillSendEventsTo(receiver.url, fid),
              details: <FilterWords subscription={subscription} preview={await preview()} />,
            });
            draft.discard();
            setCreated(webhook);
            refreshShown();
            return msg.webhookCreated;
          }),
        )
      }
    >
      <SignButton action={action} obstacle={check.obstacle}>
        {msg.signAndCreate}
      </SignButton>
    </WebhookForm>
  );
}

/** The secret is in memory until the page is left. */
function Created({ webhook }: { webhook: Webhook }) {
  return (
    <section class="card" aria-label={msg.webhookCreatedTitle}>
      <header>
        <ResultHeading>{msg.copyItsSecretNow}</ResultHeading>
      </header>
      <div class="pad stack">
        <p class="measure">{msg.yourReceiverVerifiesEachRequest}</p>
        <Secrets secrets={webhook.secrets} />
        <p>
          <a class="btn go" href={webhookPage(webhook.webhook_id)}>
            {msg.openTheWebhook}
          </a>
        </p>
      </div>
    </section>
  );
}
