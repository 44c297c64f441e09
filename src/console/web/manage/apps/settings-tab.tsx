import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { announce } from "../../parts/announcer.tsx";
import { Outcome, useAction } from "../action.tsx";
import { APPS_PATH, type App } from "./app.ts";
import { type AppDraft, AppInputs, appFieldsOf, appProblems } from "./app-fields.tsx";
import { type AppFields, deleteOperation, updateOperation } from "./app-operations.ts";

const draftOf = (app: App): AppDraft => ({
  name: app.name,
  url: app.app_url,
  description: app.description ?? "",
  allowlist: app.signer_fid_allowlist.join(", "),
});

/** The fields that differ from the record: one request changes all of them. */
function changesOf(app: App, draft: AppDraft): Partial<AppFields> {
  const fields = appFieldsOf(draft);
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([field, value]) => JSON.stringify(value) !== JSON.stringify(app[field as keyof AppFields]),
    ),
  );
}

function Danger({ app }: { app: App }) {
  const { route } = useLocation();
  const action = useAction();
  async function remove() {
    if (!(await action.operate(deleteOperation(app)))) return;
    announce("The app is deleted");
    route(APPS_PATH);
  }
  return (
    <section class="card" aria-labelledby="danger">
      <header>
        <h2 class="grow" id="danger">
          Delete the app
        </h2>
      </header>
      <div class="pad stack">
        <p class="measure">
          Its tokens, campaigns and secrets go with it. Users would have to add the app again.
        </p>
        <Outcome action={action} />
        <div>
          <button type="button" class="btn bad" aria-disabled={action.isBusy} onClick={() => void remove()}>
            Delete the app
          </button>
        </div>
      </div>
    </section>
  );
}

/** What the owner may change of an app, and its end. */
export function SettingsTab({ app, onChanged }: { app: App; onChanged: () => void }) {
  const [draft, setDraft] = useState(() => draftOf(app));
  const action = useAction();
  const changes = changesOf(app, draft);
  const canSave = Object.keys(changes).length > 0 && Object.keys(appProblems(draft)).length === 0;
  async function save() {
    if (!(await action.operate(updateOperation(app, changes)))) return;
    announce("Saved");
    onChanged();
  }
  return (
    <div class="stack">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          if (canSave) void save();
        }}
      >
        <header>
          <h2 class="grow">Settings</h2>
        </header>
        <div class="pad stack">
          <AppInputs draft={draft} onChange={setDraft} />
          <Outcome action={action} />
          <div>
            <button type="submit" class="btn go" disabled={!canSave} aria-disabled={action.isBusy}>
              Sign and save
            </button>
          </div>
        </div>
      </form>
      <Danger app={app} />
    </div>
  );
}
