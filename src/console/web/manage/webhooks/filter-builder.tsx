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

/** The subscription as JSON, which can be typed as well. */
function JsonView({ state, onChange }: { state: FilterState; onChange: (state: FilterState) => void }) {
  const written = toSubscription(state);
  const text = "subscription" in written ? JSON.stringify(written.subscription, null, 2) : undefined;
  const [typed, setTyped] = useState<string>();
  const [problem, setProblem] = useState<string>();
  function type(next: string) {
    setTyped(next);
    let value: unknown;
    try {
      value = JSON.parse(next);
    } catch {
      setProblem("This is no JSON yet.");
      return;
    }
    const read = fromSubscription(value);
    setProblem("problem" in read ? read.problem : undefined);
    if ("state" in read) onChange(read.state);
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

/** Builds a subscription: as forms, or as JSON. */
export function FilterBuilder({
  state,
  onChange,
  problems,
}: {
  state: FilterState;
  onChange: (state: FilterState) => void;
  problems: readonly FilterProblem[];
}) {
  const [isJson, setJson] = useState(false);
  const free = EVENT_KINDS.filter((kind) => !state.some(({ kinds }) => kinds.includes(kind)));
  const problemsOf = (group: number) =>
    Object.fromEntries(
      problems.filter((one) => one.group === group).map(({ field, message }) => [field ?? "", message]),
    );
  return (
    <section class="card" aria-label="Filter">
      <header>
        <h2 class="grow">Which events</h2>
        <button type="button" class="btn" aria-pressed={isJson} onClick={() => setJson(!isJson)}>
          JSON
        </button>
      </header>
      <div class="pad stack">
        {isJson && <JsonView state={state} onChange={onChange} />}
        {state.map((group, at) => (
          <FilterGroup
            group={group}
            at={at}
            taken={state.flatMap((other, index) => (index === at ? [] : other.kinds))}
            problems={problemsOf(at)}
            onChange={(next) => onChange(state.map((one, index) => (index === at ? next : one)))}
            onRemove={
              state.length === 1 ? undefined : () => onChange(state.filter((_, index) => index !== at))
            }
            key={at}
          />
        ))}
        {free.length > 0 && (
          <p>
            <button type="button" class="btn" onClick={() => onChange([...state, EMPTY_GROUP])}>
              Add a filter for other kinds
            </button>
          </p>
        )}
      </div>
    </section>
  );
}
