import { useState } from "preact/hooks";
import { useDraft } from "../../data/draft.ts";
import { ResultHeading } from "../../parts/page-head.tsx";
import { UserName } from "../../text/user-name.tsx";
import { Outcome, useAction } from "../action.tsx";
import { ManagePage } from "../manage-page.tsx";
import { APPS_PATH, type App, appPath } from "./app.ts";
import { AppInputs, appFieldsOf, appProblems, emptyAppDraft } from "./app-fields.tsx";
import { createOperation } from "./app-operations.ts";
import { NewSecret } from "./new-secret.tsx";

function Created({ app }: { app: App }) {
  return (
    <div class="stack">
      <section class="card" aria-labelledby="registered">
        <header>
          <ResultHeading id="registered">Registered</ResultHeading>
        </header>
        <div class="pad stack">
          <p>
            <b>
              <UserName name={app.name} />
            </b>{" "}
            has the id <code>{app.app_id}</code>.
          </p>
          <p>
            <a class="btn go" href={appPath(app.app_id)}>
              Open the app
            </a>
          </p>
        </div>
      </section>
      <NewSecret secret={app.send_secrets.at(-1)?.value ?? undefined} />
    </div>
  );
}

function CreateForm() {
  const draft = useDraft("new app", () => emptyAppDraft);
  const action = useAction();
  const [created, setCreated] = useState<App>();
  if (created) return <Created app={created} />;
  const isComplete = Object.keys(appProblems(draft.value)).length === 0;
  async function create() {
    const response = await action.operate<{ app: App }>(createOperation(appFieldsOf(draft.value)));
    if (!response) return;
    draft.discard();
    setCreated(response.app);
  }
  return (
    <form
      class="card pad stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (isComplete) void create();
      }}
    >
      <AppInputs draft={draft.value} onChange={draft.set} />
      <Outcome action={action} />
      <div class="row wrap">
        <button type="submit" class="btn go" disabled={!isComplete} aria-disabled={action.isBusy}>
          Sign and register
        </button>
        <span class="s dim">One prompt of your wallet.</span>
      </div>
    </form>
  );
}

/** The form of a new mini app. */
export function Page() {
  return (
    <ManagePage title="Register a mini app" crumbs={[{ label: "Mini apps", href: APPS_PATH }]}>
      {() => <CreateForm />}
    </ManagePage>
  );
}
