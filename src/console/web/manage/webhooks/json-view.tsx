import { useState } from "preact/hooks";
import { Labelled } from "../../parts/form.tsx";
import * as msg from "../../text/en/manage/webhooks.ts";
import { type FilterProblem, type FilterState, fromSubscription, toSubscription } from "./filter-state.ts";

export interface FilterBuilderProps {
  readonly state: FilterState;
  /** Typed JSON that is not a subscription yet. */
  readonly json: string | undefined;
  readonly onChange: (state: FilterState, json: string | undefined) => void;
  readonly problems: readonly FilterProblem[];
}

/** Reads a subscription that was typed as JSON. */
function readJson(text: string): ReturnType<typeof fromSubscription> {
  try {
    return fromSubscription(JSON.parse(text));
  } catch {
    return { problem: msg.thisIsNotJsonYet };
  }
}

/** The subscription as JSON, which can also be edited. */
export function JsonView({ state, json, onChange }: Omit<FilterBuilderProps, "problems">) {
  const written = toSubscription(state);
  const text = "subscription" in written ? JSON.stringify(written.subscription, null, 2) : undefined;
  /** The text that is being typed. It stays unchanged until the field loses focus, even if the form can read it. */
  const [typed, setTyped] = useState(json);
  const read = json === undefined ? undefined : readJson(json);
  const problem = read && "problem" in read ? read.problem : undefined;
  function type(next: string) {
    setTyped(next);
    const found = readJson(next);
    if ("state" in found) onChange(found.state, undefined);
    else onChange(state, next);
  }
  const hint = text === undefined ? msg.theFormHasAProblemWhat : msg.changesHereChangeTheForm;
  return (
    <Labelled id="subscription-json" label={msg.subscriptionAsJson} hint={hint} problem={problem}>
      <textarea
        id="subscription-json"
        name="subscription-json"
        class="mono"
        rows={12}
        spellcheck={false}
        value={typed ?? text ?? ""}
        aria-invalid={problem !== undefined}
        aria-describedby="subscription-json-hint"
        onInput={({ currentTarget }) => type(currentTarget.value)}
        onBlur={() => {
          // Invalid text stays, so that it can be corrected.
          if (problem === undefined) setTyped(undefined);
        }}
      />
    </Labelled>
  );
}
