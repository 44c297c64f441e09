import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { UseDemoReceiver } from "../../demo/receiver.tsx";
import { Field, focusField } from "../../parts/field.tsx";
import { FilterBuilder } from "./filter-builder.tsx";
import {
  type FilterProblem,
  type FilterState,
  problemNamed,
  type Subscription,
  toSubscription,
} from "./filter-state.ts";
import { PreviewBox } from "./preview-box.tsx";
import type { Trial } from "./trial.ts";

/** What an owner types of a webhook. */
export interface WebhookDraft {
  readonly name: string;
  readonly url: string;
  readonly description: string;
  readonly filter: FilterState;
  /** JSON that was typed instead of the filter and is no subscription yet. */
  readonly json?: string | undefined;
}

/** What is wrong with a draft: by the page, or in the words of the API. */
export interface DraftCheck {
  readonly subscription: Subscription | undefined;
  readonly problems: readonly FilterProblem[];
  readonly name: string | undefined;
  readonly url: string | undefined;
}

/** @param refusal what the API said of the draft, if it refused. */
export function checkDraft({ filter, json }: WebhookDraft, refusal: string | undefined): DraftCheck {
  const written = toSubscription(filter);
  const named = refusal === undefined ? undefined : problemNamed(filter, refusal);
  const of = (field: string) => (refusal?.startsWith(`${field} `) ? refusal : undefined);
  return {
    subscription: "subscription" in written && json === undefined ? written.subscription : undefined,
    problems: "problems" in written ? written.problems : named ? [named] : [],
    name: of("name"),
    url: of("url"),
  };
}

/**
 * The form of a webhook: its filter, what that would have caught, its receiver, and `children` below. It is not sent while its filter has a
 * problem: the field that has it is marked and gets the focus.
 */
export function WebhookForm({
  draft,
  check,
  trial,
  ownerFid,
  onChange,
  onSubmit,
  children,
}: {
  draft: WebhookDraft;
  check: DraftCheck;
  trial: Trial;
  ownerFid: number;
  onChange: (draft: WebhookDraft) => void;
  onSubmit: () => void;
  children: ComponentChildren;
}) {
  const set = (change: Partial<WebhookDraft>) => onChange({ ...draft, ...change });
  const [isRefused, setRefused] = useState(false);
  return (
    <form
      class="build"
      onSubmit={(event) => {
        event.preventDefault();
        setRefused(check.subscription === undefined);
        if (check.subscription !== undefined) onSubmit();
        else focusField(event.currentTarget.querySelector<HTMLElement>('[aria-invalid="true"]'));
      }}
    >
      <FilterBuilder
        state={draft.filter}
        json={draft.json}
        onChange={(filter, json) => set({ filter, json })}
        problems={check.problems}
      />
      <PreviewBox subscription={check.subscription} trial={trial} />
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
        {isRefused && check.subscription === undefined && (
          <p class="problem" role="alert">
            Nothing was sent: the filter has a problem, which is marked at its field.
          </p>
        )}
        {children}
      </div>
    </form>
  );
}
