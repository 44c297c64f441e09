import { plural } from "../../data/format.ts";
import { OwnerRegion } from "../../owner/owner-region.tsx";
import { useOwnerQuery } from "../../owner/use-owner-query.ts";
import { AppFace } from "../../parts/app-face.tsx";
import { Time } from "../../parts/time.tsx";
import { UserName } from "../../text/user-name.tsx";
import { ManagePage } from "../manage-page.tsx";
import { APPS_PATH, type App, appPath, listCall } from "./app.ts";

function AppRow({ app }: { app: App }) {
  const { app_id, name, app_url, created_at } = app;
  return (
    <li class="row person" data-row tabIndex={-1} data-app={app_id}>
      <AppFace appId={app_id} name={name} />
      <div class="grow">
        <a class="name" href={appPath(app_id)} data-open>
          <UserName name={name} />
        </a>
        <p class="s dim line">{app_url}</p>
      </div>
      <Time at={created_at} />
    </li>
  );
}

function AppList() {
  const query = useOwnerQuery<{ apps: readonly App[] }>(listCall);
  return (
    <OwnerRegion
      title="Your mini apps"
      call={listCall}
      query={query}
      prompted={query}
      aside={query.data && <span class="dim s">{plural(query.data.apps.length, "app")}</span>}
      isEmpty={({ apps }) => apps.length === 0}
      empty={
        <>
          You have none yet. <a href={`${APPS_PATH}/new`}>Register a mini app</a>, put a line into its
          manifest, and this node collects who added it.
        </>
      }
    >
      {({ apps }) => (
        <ul class="rows">
          {apps.map((app) => (
            <AppRow app={app} key={app.app_id} />
          ))}
        </ul>
      )}
    </OwnerRegion>
  );
}

/** The mini apps of the owner. */
export function Page() {
  return (
    <ManagePage
      title="Mini apps"
      actions={
        <a class="btn go" href={`${APPS_PATH}/new`}>
          Register a mini app
        </a>
      }
    >
      {() => <AppList />}
    </ManagePage>
  );
}
