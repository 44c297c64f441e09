import { useState } from "preact/hooks";
import { EVENT_KINDS } from "../../stream/filters.ts";
import { FilterGroup } from "./filter-group.tsx";
import {
  EMPTY_GROUP,
  type FilterProblem,
  type FilterState,
  fromSubscription,
  toSubscription,
} from "./filter-state.ts";

/** Reads a subscription that was typed as JSON. */
export function readJson(text: string): ReturnType<typeof fromSubscription> {
  try {
    return fromSubscription(JSON.parse(text));
  } catch {
    return { problem: "This is not JSON yet." };
  }
}

/** The subscription as JSON, which can be typed as well. */
function JsonView({ state, json, onChange }: Omit<FilterBuilderProps, "problems">) {
  const written = toSubscription(state);
  const text = "subscription" in written ? JSON.stringify(written.subscription, null, 2) : undefined;
  /** What is being typed, also where the form reads it: it stays as it is until the field is left. */
  const [typed, setTyped] = useState(json);
  const read = json === undefined ? undefined : readJson(json);
  const problem = read && "problem" in read ? read.problem : undefined;
  function type(next: string) {
    setTyped(next);
    const found = readJson(next);
    if ("state" in found) onChange(found.state, undefined);
    else onChange(state, next);
  }
  const hint =
    text === undefined
      ? "The form has a problem. What is here replaces it."
      : "Changes here change the form.";
  return (
    <div class="field">
      <label for="subscription-json">Subscription as JSON</label>
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
          // What could not be read stays to be mended.
          if (problem === undefined) setTyped(undefined);
        }}
      />
      <div class="hint" id="subscription-json-hint">
        {problem === undefined ? <span>{hint}</span> : <span class="problem">{problem}</span>}
      </div>
    </div>
  );
}

interface FilterBuilderProps {
  readonly state: FilterState;
  /** JSON that was typed and is no subscription yet. */
  readonly json: string | undefined;
  readonly onChange: (state: FilterState, json: string | undefined) => void;
  readonly problems: readonly FilterProblem[];
}

/** Builds a subscription: as forms, or as JSON. */
export function FilterBuilder({ state, json, onChange, problems }: FilterBuilderProps) {
  const [isOpen, setOpen] = useState(false);
  const isJson = isOpen || json !== undefined;
  const change = (next: FilterState) => onChange(next, json);
  const free = EVENT_KINDS.filter((kind) => !state.some(({ kinds }) => kinds.includes(kind)));
  const problemsOf = (group: number) =>
    Object.fromEntries(
      problems.filter((one) => one.group === group).map(({ field, message }) => [field ?? "", message]),
    );
  return (
    <section class="card" aria-label="Filter">
      <header>
        <h2 class="grow">Which events</h2>
        <button
          type="button"
          class="btn"
          aria-pressed={isJson}
          onClick={() => {
            setOpen(!isJson);
            // The form is what counts once the text is closed.
            if (isJson) onChange(state, undefined);
          }}
        >
          JSON
        </button>
      </header>
      <div class="pad stack">
        {isJson && <JsonView state={state} json={json} onChange={onChange} />}
        {state.map((group, at) => (
          <FilterGroup
            group={group}
            at={at}
            taken={state.flatMap((other, index) => (index === at ? [] : other.kinds))}
            problems={problemsOf(at)}
            onChange={(next) => change(state.map((one, index) => (index === at ? next : one)))}
            onRemove={state.length === 1 ? undefined : () => change(state.filter((_, index) => index !== at))}
            key={at}
          />
        ))}
        {free.length > 0 && (
          <p>
            <button type="button" class="btn" onClick={() => change([...state, EMPTY_GROUP])}>
              Add a filter for other kinds
            </button>
          </p>
        )}
      </div>
    </section>
  );
}
