import { useEffect, useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import { useAction } from "../../owner/action.tsx";
import { OwnerRegion, useOwnerQuery } from "../../owner/owner-data.tsx";
import { signed } from "../../owner/signed-call.ts";
import { nodeOrigin } from "../../page-config.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { obstacleOf } from "../../parts/fields.ts";
import { Time } from "../../parts/pill.tsx";
import { RawText, ReachNote } from "../../parts/raw-text.tsx";
import { Card } from "../../parts/region.tsx";
import { Facts } from "../../parts/table.tsx";
import * as msg from "../../text/en/manage/login.ts";
import { plainName } from "../../text/name.ts";
import { DeleteCard, SignedForm } from "../action.tsx";
import { ManagePage } from "../manage-page.tsx";
import {
  draftOfClient,
  LOGIN_FIELDS,
  type LoginChanges,
  type LoginClient,
  loginChanges,
  loginProblems,
} from "./client-fields.ts";
import { LOGIN_PATH, LoginInputs } from "./clients.tsx";

const loginUrl = `${nodeOrigin}/login`;

/** Returns the button of the hosted sign-in; one attribute names this node. */
const buttonOf = (clientId: string) => `<div
  class="neynar_signin"
  data-client_id="${clientId}"
  data-neynar_login_url="${loginUrl}"
  data-success-callback="onSignInSuccess"
></div>
<script src="https://neynarxyz.github.io/siwn/raw/1.2.0/index.js" async></script>`;

function Snippet({ client }: { client: LoginClient }) {
  const attribute = `data-neynar_login_url="${loginUrl}"`;
  const page = `${loginUrl}?client_id=${client.client_id}`;
  return (
    <Card title={msg.theButtonOfYourPage}>
      <p class="measure">{msg.aPageThatHasTheButton}</p>
      <div class="row wrap">
        <code class="grow user" data-attribute>
          {attribute}
        </code>
        <CopyButton text={attribute} quiet={false} />
      </div>
      <RawText text={buttonOf(client.client_id)} label={msg.theWholeButton} />
      <p class="s">
        {msg.orOpenThePageItself(
          <a class="mono user" href={page} target="_blank" rel="noopener noreferrer">
            {page}
          </a>,
        )}
      </p>
      <ReachNote url={loginUrl} others={msg.visitors} />
    </Card>
  );
}

function ClientFacts({ client }: { client: LoginClient }) {
  const { client_id, origins, redirect_uris, permissions, created_at, updated_at } = client;
  const lines = (texts: readonly string[]) => (
    <ul>
      {texts.map((text) => (
        <li class="user" key={text}>
          {text}
        </li>
      ))}
    </ul>
  );
  return (
    <Facts
      facts={{
        [msg.clientId]: (
          <span class="mono user">
            {client_id} <CopyButton text={client_id} />
          </span>
        ),
        [msg.origins]: lines(origins),
        [msg.redirectUris]: redirect_uris.length > 0 && lines(redirect_uris),
        [msg.permissions]: permissions,
        [msg.created]: <Time ago at={created_at} />,
        [msg.changed]: updated_at !== created_at && <Time ago at={updated_at} />,
      }}
    />
  );
}

function Settings({ client, onChanged }: { client: LoginClient; onChanged: () => void }) {
  const [draft, setDraft] = useState(() => draftOfClient(client));
  const action = useAction();
  const changes = loginChanges(client, draft);
  const obstacle =
    obstacleOf(LOGIN_FIELDS, loginProblems(draft)) ??
    (Object.keys(changes).length === 0 ? msg.nothingHasChanged : undefined);
  async function save() {
    const body = { client_id: client.client_id, ...(changes as LoginChanges) };
    const response = await action.operate({
      ...signed("PUT /login_client", { body }),
      title: msg.changeTheLoginClient,
      words: msg.ofWillChange(Object.keys(changes).join(", "), plainName(client.name)),
    });
    if (!response) return;
    setDraft(draftOfClient(response.login_client));
    onChanged();
  }
  return (
    <SignedForm
      title={msg.settings}
      label={msg.signAndSave}
      action={action}
      obstacle={obstacle}
      onSign={save}
    >
      <LoginInputs fields={LOGIN_FIELDS} draft={draft} problems={loginProblems(draft)} onChange={setDraft} />
    </SignedForm>
  );
}

function Client({ id, onName }: { id: string; onName: (name: string) => void }) {
  const query = useOwnerQuery(signed("GET /login_client", { query: { client_id: id } }));
  const client = query.data?.login_client;
  const name = client && plainName(client.name);
  useEffect(() => {
    if (name !== undefined) onName(name);
  }, [name]);
  return (
    <>
      <OwnerRegion title={msg.loginClient} query={query}>
        {({ login_client }) => <ClientFacts client={login_client} />}
      </OwnerRegion>
      {client && <Snippet client={client} />}
      {client && <Settings client={client} onChanged={() => query.refresh()} key={client.client_id} />}
      {client && (
        <DeleteCard
          operation={{
            ...signed("DELETE /login_client", { body: { client_id: client.client_id } }),
            title: msg.deleteTheLoginClient,
            words: msg.noVisitorOfMaySignIn(plainName(client.name)),
            typedName: client.client_id.slice(0, 8),
          }}
          listPath={LOGIN_PATH}
        >
          {msg.itsButtonStopsAtOnce}
        </DeleteCard>
      )}
    </>
  );
}

/** One login client: its button, its settings and its deletion. */
export function Page() {
  const { params } = useRoute();
  const id = params.id ?? "";
  const [name, setName] = useState(msg.loginClient);
  return (
    <ManagePage title={name} crumbs={[{ label: msg.loginClients, href: LOGIN_PATH }]}>
      {() => <Client id={id} onName={setName} key={id} />}
    </ManagePage>
  );
}
