import { useState } from "preact/hooks";
import { useDraft } from "../../data/draft.ts";
import { useAction } from "../../owner/action.tsx";
import { draftOf, obstacleOf, problemsOf, valuesOf } from "../../parts/fields.ts";
import { Fields } from "../../parts/form.tsx";
import * as msg from "../../text/en/manage/apps.ts";
import { UserName } from "../../text/user-text.tsx";
import { NewSecret, SignedForm } from "../action.tsx";
import { ManagePage } from "../manage-page.tsx";
import { APP_FIELDS, APPS_PATH, type App, appPath, createApp } from "./apps.tsx";

function Created({ app: { app_id, name, send_secrets } }: { app: App }) {
  return (
    <>
      <NewSecret title={msg.registered} secret={send_secrets.at(-1)?.value ?? ""}>
        {msg.hasTheIdCopyItsSend(
          <b>
            <UserName name={name} />
          </b>,
          <code>{app_id}</code>,
          <code>x-api-key</code>,
        )}
      </NewSecret>
      <p>
        <a class="btn go" href={appPath(app_id)}>
          {msg.openTheApp}
        </a>
      </p>
    </>
  );
}

function CreateForm() {
  const draft = useDraft("mini app", () => draftOf(APP_FIELDS));
  const action = useAction();
  const [created, setCreated] = useState<App>();
  if (created) return <Created app={created} />;
  const problems = problemsOf(APP_FIELDS, draft.value);
  async function create() {
    const response = await action.operate(createApp(valuesOf(APP_FIELDS, draft.value)));
    if (!response) return;
    draft.discard();
    setCreated(response.app);
  }
  return (
    <SignedForm
      title={msg.newMiniApp}
      label={msg.signAndRegister}
      action={action}
      obstacle={obstacleOf(APP_FIELDS, problems)}
      onSign={create}
    >
      <Fields form="app" fields={APP_FIELDS} draft={draft.value} problems={problems} onChange={draft.set} />
    </SignedForm>
  );
}

/** The form of a new mini app. */
export function Page() {
  return (
    <ManagePage title={msg.registerAMiniApp} crumbs={[{ label: msg.miniApps, href: APPS_PATH }]}>
      {() => <CreateForm />}
    </ManagePage>
  );
}
