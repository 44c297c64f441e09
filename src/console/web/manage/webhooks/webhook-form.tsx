import type { ComponentChildren } from "preact";
import { UseDemoReceiver } from "../../demo/receiver.tsx";
import { Field } from "../../parts/field.tsx";
import { FilterBuilder } from "./filter-builder.tsx";
import {
  type FilterProblem,
  type FilterState,
  problemNamed,
  type Subscription,
  toSubscription,
} from "./filter-state.ts";
import { PreviewBox } from "./preview-box.tsx";

/** What an owner types of a webhook. */
export interface WebhookDraft {
  readonly name: string;
  readonly url: string;
  readonly description: string;
  readonly filter: FilterState;
}

/** What is wrong with a draft: by the page, or in the words of the API. */
export interface DraftCheck {
  readonly subscription: Subscription | undefined;
  readonly problems: readonly FilterProblem[];
  readonly name: string | undefined;
  readonly url: string | undefined;
}

/** @param refusal what the API said of the draft, if it refused. */
export function checkDraft({ filter }: WebhookDraft, refusal: string | undefined): DraftCheck {
  const written = toSubscription(filter);
  const named = refusal === undefined ? undefined : problemNamed(filter, refusal);
  const of = (field: string) => (refusal?.startsWith(`${field} `) ? refusal : undefined);
  return {
    subscription: "subscription" in written ? written.subscription : undefined,
    problems: "problems" in written ? written.problems : named ? [named] : [],
    name: of("name"),
    url: of("url"),
  };
}

/** The form of a webhook: its filter, what that would have caught, its receiver, and `children` below. */
export function WebhookForm({
  draft,
  check,
  ownerFid,
  onChange,
  onRefusal,
  onSubmit,
  children,
}: {
  draft: WebhookDraft;
  check: DraftCheck;
  ownerFid: number;
  onChange: (draft: WebhookDraft) => void;
  /** Called with what the API says of the filter. */
  onRefusal: (message: string | undefined) => void;
  onSubmit: () => void;
  children: ComponentChildren;
}) {
  const set = (change: Partial<WebhookDraft>) => onChange({ ...draft, ...change });
  return (
    <form
      class="build"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <FilterBuilder state={draft.filter} onChange={(filter) => set({ filter })} problems={check.problems} />
      <PreviewBox subscription={check.subscription} onRefusal={onRefusal} />
      <div class="stack">
        <section class="card" aria-label="Receiver">
          <header>
            <h2>Receiver</h2>
          </header>
          <div class="pad stack">
            <Field
              label="URL"
              name="webhook-url"
              type="url"
              value={draft.url}
              onInput={(url) => set({ url })}
              placeholder="https://"
              hint="https, on a public host. It gets a POST for each event and answers 2xx within 10 seconds."
              problem={check.url}
              required
            />
            <UseDemoReceiver ownerFid={ownerFid} onUrl={(url) => set({ url })} />
            <Field
              label="Name"
              name="webhook-name"
              value={draft.name}
              onInput={(name) => set({ name })}
              hint="For you; at most 128 characters."
              problem={check.name}
              required
            />
            <Field
              label="Description"
              name="webhook-description"
              value={draft.description}
              onInput={(description) => set({ description })}
              hint="Optional."
            />
          </div>
        </section>
        {children}
      </div>
    </form>
  );
}
