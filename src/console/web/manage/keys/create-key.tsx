import { useState } from "preact/hooks";
import { useDraft } from "../../data/draft.ts";
import { nowMs } from "../../data/now.ts";
import { Outcome, useAction } from "../action.tsx";
import { createOperation, type NewSecret } from "./api-key.ts";
import { emptyKeyDraft, keyFieldsOf, keyProblems } from "./key-draft.ts";
import { KeyInputs } from "./key-inputs.tsx";
import { SecretOnce } from "./secret-once.tsx";

/** The form of a new key. `onCreated` is the time to ask for the list again. */
export function CreateKey({ onCreated }: { onCreated: () => void }) {
  const draft = useDraft("new key", () => emptyKeyDraft);
  const [created, setCreated] = useState<NewSecret>();
  const action = useAction();
  const isComplete = Object.keys(keyProblems(draft.value, nowMs.value)).length === 0;

  async function create() {
    const response = await action.operate<NewSecret>(createOperation(keyFieldsOf(draft.value)));
    if (!response) return;
    setCreated(response);
    draft.set(emptyKeyDraft);
    draft.discard();
    onCreated();
  }

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
          if (isComplete) void create();
        }}
      >
        <KeyInputs draft={draft.value} onChange={draft.set} />
        <div class="row wrap">
          <button type="submit" class="btn go" disabled={!isComplete} aria-disabled={action.isBusy}>
            Sign and create
          </button>
          <span class="s dim">One prompt of your wallet.</span>
        </div>
        <Outcome action={action} />
      </form>
    </section>
  );
}
