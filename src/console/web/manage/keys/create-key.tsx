import { useState } from "preact/hooks";
import { Field } from "../../parts/field.tsx";
import { Outcome, useAction } from "../action.tsx";
import { createOperation, type NewSecret, SCOPES, type Scope } from "./api-key.ts";
import { SecretOnce } from "./secret-once.tsx";

/** The form of a new key. `onCreated` is the time to ask for the list again. */
export function CreateKey({ onCreated }: { onCreated: () => void }) {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(["read"]);
  const [created, setCreated] = useState<NewSecret>();
  const action = useAction();

  async function create() {
    const ordered = SCOPES.map(([scope]) => scope).filter((scope) => scopes.includes(scope));
    const response = await action.operate<NewSecret>(createOperation({ name: name.trim(), scopes: ordered }));
    if (!response) return;
    setCreated(response);
    setName("");
    onCreated();
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
          <button
            type="submit"
            class="btn go"
            disabled={action.isBusy || name.trim() === "" || scopes.length === 0}
          >
            Sign and create
          </button>
          <span class="s dim">One prompt of your wallet.</span>
        </div>
        <Outcome action={action} />
      </form>
    </section>
  );
}
