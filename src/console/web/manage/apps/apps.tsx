import { AppFace } from "../../content/face.tsx";
import type { BodyOf, Schemas } from "../../data/call.ts";
import { OwnerRegion, useOwnerQuery } from "../../owner/owner-data.tsx";
import { signed } from "../../owner/signed-call.ts";
import { apiPrefix, nodeOrigin, pageConfig } from "../../page-config.ts";
import { type FieldSpec, withoutNulls } from "../../parts/fields.ts";
import { Time } from "../../parts/pill.tsx";
import * as msg from "../../text/en/manage/apps.ts";
import { plainName } from "../../text/name.ts";
import { UserName } from "../../text/user-text.tsx";
import { ManagePage } from "../manage-page.tsx";

export type App = Schemas["RegisteredApp"];

/** The fields of an app that its owner enters. */
export const APP_FIELDS = [
  {
    name: "name",
    label: msg.name,
    isRequired: true,
    maxChars: 128,
    hint: msg.peopleSeeItsFirstLetterBeside,
  },
  {
    name: "app_url",
    label: msg.url,
    kind: "url",
    isRequired: true,
    placeholder: pageConfig.demo ? "https://bread.demo.example" : "https://example.com",
    hint: pageConfig.demo ? msg.whereTheAppIsOnADemo : msg.whereTheAppIsNotificationsCan,
  },
  { name: "description", label: msg.description },
  {
    name: "signer_fid_allowlist",
    label: msg.acceptedClients,
    kind: "fids",
    hint: msg.fidsOfTheClientAppsWhose,
  },
] as const satisfies readonly FieldSpec[];

export const APPS_PATH = "/console/manage/apps";

export const appPath = (appId: string, tab?: string) =>
  `${APPS_PATH}/${appId}${tab === undefined ? "" : `?tab=${tab}`}`;

export const appCall = (appId: string) => signed("GET /frame/app", { query: { app_id: appId } });

/** The URL at which client apps report who added the app. */
export const tokenWebhookUrl = (appId: string) => `${nodeOrigin}${apiPrefix}/frame/webhook/${appId}`;

export const createApp = (values: { readonly name: string; readonly app_url: string } & object) => ({
  ...signed("POST /frame/app", { body: withoutNulls(values) }),
  title: msg.registerAMiniApp,
  words: msg.atBecomesOneOfYourApps(values.name, values.app_url),
});

export const updateApp = ({ app_id, name }: App, changes: Omit<BodyOf<"PUT /frame/app">, "app_id">) => ({
  ...signed("PUT /frame/app", { body: { app_id, ...changes } }),
  title: msg.changeTheApp,
  words: msg.ofWillChange(
    APP_FIELDS.filter((field) => field.name in changes)
      .map(({ label }) => label)
      .join(", "),
    name,
  ),
});

export const rotateAppSecret = ({ app_id, name }: App) => ({
  ...signed("POST /frame/app/secret/rotate", { query: { app_id } }),
  title: msg.rotateTheSendSecret,
  words: msg.getsANewSendSecretWhich(name),
});

export const revealAppSecrets = ({ app_id, name }: App) => ({
  ...appCall(app_id),
  title: msg.revealTheSendSecrets,
  words: msg.theNodeShowsTheSendSecrets(name),
});

/** Reports whether the owner can type a name exactly as it is displayed. */
const typeable = (name: string) => plainName(name) === name && !/^\s|\s$|\s\s/.test(name);

export const deleteApp = ({ app_id, name }: App) => ({
  ...signed("DELETE /frame/app", { query: { app_id } }),
  title: msg.deleteTheApp,
  words: msg.isDeletedWithItsTokensCampaigns(name),
  typedName: typeable(name) ? name : app_id,
});

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
  const query = useOwnerQuery(signed("GET /frame/app/list"));
  return (
    <OwnerRegion
      title={msg.yourMiniApps}
      query={query}
      aside={query.data && <span class="dim s">{msg.countApps(query.data.apps.length)}</span>}
      isEmpty={({ apps }) => apps.length === 0}
      empty={msg.noMiniAppsYetPutA(<a href={`${APPS_PATH}/new`}>{msg.registerAMiniApp}</a>)}
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
      title={msg.miniApps}
      actions={
        <a class="btn go" href={`${APPS_PATH}/new`}>
          {msg.registerAMiniApp}
        </a>
      }
    >
      {() => <AppList />}
    </ManagePage>
  );
}
