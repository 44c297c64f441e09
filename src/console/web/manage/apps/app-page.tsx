import { useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import { AddDemoPeople } from "../../demo/add-people.tsx";
import { DemoPhones } from "../../demo/phones.tsx";
import { useAction } from "../../owner/action.tsx";
import { OwnerRegion, useOwnerQuery } from "../../owner/owner-data.tsx";
import { announce, CopyButton } from "../../parts/copy.tsx";
import { changesOf, draftOf, obstacleOf, problemsOf, valuesOf } from "../../parts/fields.ts";
import { Fields } from "../../parts/form.tsx";
import { useUrlTabs } from "../../parts/page-head.tsx";
import { ReachNote } from "../../parts/raw-text.tsx";
import { Card } from "../../parts/region.tsx";

import * as msg from "../../text/en/manage/apps.ts";

import { plainName } from "../../text/name.ts";
import { DeleteCard, SecretsCard, SignedForm } from "../action.tsx";
import { ManagePage } from "../manage-page.tsx";
import {
  APP_FIELDS,
  APPS_PATH,
  type App,
  appCall,
  deleteApp,
  revealAppSecrets,
  rotateAppSecret,
  tokenWebhookUrl,
  updateApp,
} from "./apps.tsx";
import { AudienceCard, RetentionCard, useAudience } from "./audience-card.tsx";
import { CampaignsTab } from "./campaign-results.tsx";
import { ManifestCheck } from "./manifest-check.tsx";
import { ScheduledTab } from "./scheduled.tsx";
import { SegmentsTab } from "./segments.tsx";
import { SendForm } from "./send/send-form.tsx";

const TABS = [
  { id: "overview", label: msg.overview },
  { id: "send", label: msg.send },
  { id: "scheduled", label: msg.scheduled },
  { id: "campaigns", label: msg.campaigns },
  { id: "segments", label: msg.segments },
  { id: "secrets", label: msg.secrets },
  { id: "settings", label: msg.settings },
] as const;

type TabId = (typeof TABS)[number]["id"];

interface TabProps {
  readonly app: App;
  readonly onChanged: () => void;
}

/** What the app's manifest must contain, so that clients report who added it. */
function ManifestCard({ appId, onAdded }: { appId: string; onAdded: () => void }) {
  const url = tokenWebhookUrl(appId);
  const line = `"webhookUrl": "${url}"`;
  return (
    <Card title={msg.inYourManifest} aside={<CopyButton text={line} />}>
      <p>{msg.addThisLineToTheObject(<code>miniapp</code>, <code>/.well-known/farcaster.json</code>)}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so a keyboard must reach it */}
      <pre class="box" tabIndex={0}>
        {line}
      </pre>
      <ReachNote url={url} others={msg.clients} />
      <AddDemoPeople appId={appId} onAdded={onAdded} />
    </Card>
  );
}

function Overview({ app }: TabProps) {
  const { app_id, name } = app;
  const audience = useAudience(app_id);
  return (
    <div class="split even">
      <div class="stack">
        <AudienceCard appId={app_id} />
        <RetentionCard appId={app_id} />
      </div>
      <div class="stack">
        <ManifestCard appId={app_id} onAdded={() => audience.refresh()} />
        <ManifestCheck app={app} />
        <DemoPhones appId={app_id} appName={name} />
      </div>
    </div>
  );
}

function SecretsTab({ app, onChanged }: TabProps) {
  return (
    <SecretsCard
      secrets={app.send_secrets}
      secretsOf={(response) => response.app.send_secrets}
      reveal={revealAppSecrets(app)}
      rotate={rotateAppSecret(app)}
      onChanged={onChanged}
    >
      <p class="dim s measure">{msg.aServerOfYoursSendsWith(<code>x-api-key</code>)}</p>
    </SecretsCard>
  );
}

function SettingsTab({ app, onChanged }: TabProps) {
  const before = draftOf(APP_FIELDS, app);
  const [draft, setDraft] = useState(before);
  const action = useAction();
  const problems = problemsOf(APP_FIELDS, draft);
  const changes = changesOf(valuesOf(APP_FIELDS, before), valuesOf(APP_FIELDS, draft));
  async function save() {
    if (!(await action.operate(updateApp(app, changes as Parameters<typeof updateApp>[1])))) return;
    announce(msg.saved);
    onChanged();
  }
  return (
    <div class="stack">
      <SignedForm
        title={msg.settings}
        label={msg.signAndSave}
        action={action}
        obstacle={
          obstacleOf(APP_FIELDS, problems) ??
          (Object.keys(changes).length === 0 ? msg.nothingHasChanged : undefined)
        }
        onSign={save}
      >
        <Fields form="app" fields={APP_FIELDS} draft={draft} problems={problems} onChange={setDraft} />
      </SignedForm>
      <DeleteCard operation={deleteApp(app)} listPath={APPS_PATH}>
        {msg.itsTokensCampaignsAndSecretsAre}
      </DeleteCard>
    </div>
  );
}

function TabContent({ tab, ...props }: TabProps & { tab: TabId }) {
  const { app } = props;
  switch (tab) {
    case "overview":
      return <Overview {...props} />;
    case "send":
      return <SendForm app={app} />;
    case "scheduled":
      return <ScheduledTab appId={app.app_id} />;
    case "segments":
      return <SegmentsTab appId={app.app_id} />;
    case "campaigns":
      return <CampaignsTab appId={app.app_id} />;
    case "secrets":
      return <SecretsTab {...props} />;
    case "settings":
      return <SettingsTab key={app.updated_at} {...props} />;
  }
}

function AppTabs(props: TabProps) {
  const { selected, list, panel } = useUrlTabs("app", msg.theApp, TABS);
  return (
    <>
      {list}
      <div {...panel}>
        <TabContent key={selected.id} {...props} tab={selected.id} />
      </div>
    </>
  );
}

function AppPage({ appId }: { appId: string }) {
  const query = useOwnerQuery(appCall(appId));
  const app = query.data?.app;
  return (
    <ManagePage
      title={app ? plainName(app.name) : msg.miniApp}
      crumbs={[{ label: msg.miniApps, href: APPS_PATH }]}
    >
      {() =>
        app ? (
          <AppTabs app={app} onChanged={() => query.refresh()} />
        ) : (
          <OwnerRegion title={msg.miniApp} query={query}>
            {() => null}
          </OwnerRegion>
        )
      }
    </ManagePage>
  );
}

/** One mini app. */
export function Page() {
  const { params } = useRoute();
  const appId = params.id ?? "";
  return <AppPage appId={appId} key={appId} />;
}
