import { useState } from "preact/hooks";
import { OperationDeclined, runOperation } from "../../owner/operation.ts";
import { Field } from "../../parts/field.tsx";
import { createOperation, type NewSecret, SCOPES, type Scope } from "./api-key.ts";
import { SecretOnce } from "./secret-once.tsx";

/** The form of a new key. `onCreated` is the time to ask for the list again. */
export function CreateKey({ onCreated }: { onCreated: () => void }) {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(["read"]);
  const [created, setCreated] = useState<NewSecret>();
  const [problem, setProblem] = useState<string>();

  async function create() {
    setProblem(undefined);
    try {
      const ordered = SCOPES.map(([scope]) => scope).filter((scope) => scopes.includes(scope));
      setCreated(await runOperation<NewSecret>(createOperation({ name: name.trim(), scopes: ordered })));
      setName("");
      onCreated();
    } catch (cause) {
      setProblem(problemOf(cause));
    }
  }
  const toggle = (scope: Scope, isOn: boolean) =>
    setScopes(isOn ? [...scopes, scope] : scopes.filter((other) => other !== scope));

  if (created) return <SecretOnce secret={created.secret} onDone={() => setCreated(undefined)} />;
  return (
    <section class="card" aria-labelledby="new-key">
      <header>
        <h2 class="grow" id="new-key">
          A new key
        </h2>
      </header>
      <form
        class="pad stack"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <Field
          label="Name"
          name="key-name"
          value={name}
          onInput={setName}
          required
          hint="For you: where it is used"
        />
        <fieldset>
          <legend class="s">It may</legend>
          <div class="checks column">
            {SCOPES.map(([scope, words]) => (
              <label class="s" key={scope}>
                <input
                  type="checkbox"
                  checked={scopes.includes(scope)}
                  onChange={({ currentTarget }) => toggle(scope, currentTarget.checked)}
                />
                <span>
                  <b>{scope}</b> <span class="dim">{words}</span>
                </span>
              </label>
            ))}
          </div>
        </fieldset>
        <div class="row wrap">
          <button type="submit" class="btn go" disabled={name.trim() === "" || scopes.length === 0}>
            Sign and create
          </button>
          <span class="s dim">One prompt of your wallet.</span>
        </div>
        {problem !== undefined && (
          <p class="problem s" role="alert">
            {problem}
          </p>
        )}
      </form>
    </section>
  );
}

/** What is said where an operation did not happen: the sentence of the wallet's side, or the node's words. */
export function problemOf(cause: unknown): string {
  if (cause instanceof OperationDeclined) return cause.message;
  return cause instanceof Error ? cause.message : String(cause);
}
