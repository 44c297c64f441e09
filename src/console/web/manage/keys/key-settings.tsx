import { useState } from "preact/hooks";
import { nowMs } from "../../data/now.ts";
import { announce } from "../../parts/announcer.tsx";
import { Outcome, useAction } from "../action.tsx";
import { type ApiKey, updateOperation } from "./api-key.ts";
import { draftOfKey, keyChanges, keyProblems } from "./key-draft.ts";
import { KeyInputs } from "./key-inputs.tsx";

/** What the owner may change of a key: one request changes all of it. */
export function KeySettings({ apiKey, onChanged }: { apiKey: ApiKey; onChanged: () => void }) {
  const [draft, setDraft] = useState(() => draftOfKey(apiKey));
  const action = useAction();
  const changes = keyChanges(apiKey, draft);
  // A key that has ended keeps its last day until it is changed.
  const { lastDay, ...others } = keyProblems(draft, nowMs.value);
  const isFit =
    Object.keys(others).length === 0 && (lastDay === undefined || changes.expires_at === undefined);
  const canSave = Object.keys(changes).length > 0 && isFit;
  async function save() {
    if (!(await action.operate(updateOperation(apiKey, changes)))) return;
    announce("Saved");
    onChanged();
  }
  return (
    <details class="card">
      <summary class="pad">Settings</summary>
      <form
        class="pad stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (canSave) void save();
        }}
      >
        <KeyInputs draft={draft} onChange={setDraft} />
        <Outcome action={action} />
        <div class="row wrap">
          <button type="submit" class="btn go" disabled={!canSave} aria-disabled={action.isBusy}>
            Sign and save
          </button>
          <span class="s dim">One prompt of your wallet.</span>
        </div>
      </form>
    </details>
  );
}
