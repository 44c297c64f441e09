import { useLocation, useRoute } from "preact-iso";
import { DemoPhones } from "../../demo/phones.tsx";
import { OwnerRegion } from "../../owner/owner-region.tsx";
import { useOwnerQuery } from "../../owner/use-owner-query.ts";
import { Tabs, tabPanelProps } from "../../parts/tabs.tsx";
import { plainName } from "../../text/name.ts";
import { ManagePage } from "../manage-page.tsx";
import { APPS_PATH, type App, appCall, appPath } from "./app.ts";
import { AudienceCard, useAudience } from "./audience-card.tsx";
import { CampaignsTab } from "./campaigns-tab.tsx";
import { ManifestCard } from "./manifest-card.tsx";
import { SecretsTab } from "./secrets-tab.tsx";
import { SendForm } from "./send-form.tsx";
import { SettingsTab } from "./settings-tab.tsx";

const TABS = [
  { id: "overview", label: "Overview" },
  { id: "send", label: "Send" },
  { id: "campaigns", label: "Campaigns" },
  { id: "secrets", label: "Secrets" },
  { id: "settings", label: "Settings" },
] as const;

type TabId = (typeof TABS)[number]["id"];

function Overview({ app }: { app: App }) {
  const { app_id } = app;
  const audience = useAudience(app_id);
  return (
    <div class="split even">
      <AudienceCard appId={app_id} />
      <div class="stack">
        <ManifestCard appId={app_id} onAdded={() => audience.refresh()} />
        <DemoPhones appId={app_id} appName={app.name} />
      </div>
    </div>
  );
}

function TabContent({ tab, app, onChanged }: { tab: TabId; app: App; onChanged: () => void }) {
  switch (tab) {
    case "overview":
      return <Overview app={app} />;
    case "send":
      return <SendForm app={app} />;
    case "campaigns":
      return <CampaignsTab appId={app.app_id} />;
    case "secrets":
      return <SecretsTab app={app} onChanged={onChanged} />;
    case "settings":
      return <SettingsTab app={app} onChanged={onChanged} key={app.updated_at} />;
  }
}

function AppTabs({ app, onChanged }: { app: App; onChanged: () => void }) {
  const { query, route } = useLocation();
  const selected = TABS.find(({ id }) => id === query.tab)?.id ?? "overview";
  return (
    <>
      <Tabs
        label="The app"
        name="app"
        tabs={TABS}
        selected={selected}
        onSelect={(id) => route(appPath(app.app_id, id === "overview" ? undefined : id))}
      />
      <div {...tabPanelProps("app", selected)}>
        <TabContent tab={selected} app={app} onChanged={onChanged} key={selected} />
      </div>
    </>
  );
}

function AppPage({ appId }: { appId: string }) {
  const call = appCall(appId);
  const query = useOwnerQuery<{ app: App }>(call);
  const app = query.data?.app;
  const title = app ? plainName(app.name) : "Mini app";
  return (
    <ManagePage title={title} crumbs={[{ label: "Mini apps", href: APPS_PATH }]}>
      {() =>
        app ? (
          <AppTabs app={app} onChanged={() => query.refresh()} />
        ) : (
          <OwnerRegion title="The app" call={call} query={query} prompted={query}>
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
