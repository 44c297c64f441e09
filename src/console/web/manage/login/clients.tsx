import { useLocation } from "preact-iso";
import { useDraft } from "../../data/draft.ts";
import { useAction } from "../../owner/action.tsx";
import { OwnerRegion, useOwnerQuery } from "../../owner/owner-data.tsx";
import { signed } from "../../owner/signed-call.ts";
import { pageConfig } from "../../page-config.ts";
import { type Draft, type FieldSpec, obstacleOf, type Problems, withoutNulls } from "../../parts/fields.ts";
import { Fields, Radios } from "../../parts/form.tsx";
import { Pill, Time } from "../../parts/pill.tsx";
import { type Column, DataTable } from "../../parts/table.tsx";
import * as msg from "../../text/en/manage/login.ts";
import { UserName } from "../../text/user-text.tsx";
import { SignedForm } from "../action.tsx";
import { ManagePage } from "../manage-page.tsx";
import {
  type Chosen,
  emptyLoginDraft,
  type LoginClient,
  loginProblems,
  NEW_LOGIN_FIELDS,
  newLoginValues,
  PERMISSIONS,
} from "./client-fields.ts";

export const LOGIN_PATH = "/console/manage/login";
export const TRY_PATH = "/console/sign-in";

const COLUMNS: readonly Column<LoginClient>[] = [
  {
    title: msg.name,
    cell: ({ client_id, name }) => (
      <a data-open href={`${LOGIN_PATH}/${client_id}`}>
        <UserName name={name} />
      </a>
    ),
  },
  { title: msg.origins, cell: ({ origins }) => <span class="user">{origins.join(", ")}</span> },
  { title: msg.permissions, cell: ({ permissions }) => permissions },
  { title: msg.created, cell: ({ created_at }) => <Time ago at={created_at} /> },
];

/** The inputs for the fields of a login client. */
export function LoginInputs<
  const Specs extends readonly FieldSpec[],
  D extends Draft<Specs> & Chosen,
>(props: { fields: Specs; draft: D; problems: Problems<Specs>; onChange: (draft: D) => void }) {
  const { fields, draft, problems, onChange } = props;
  return (
    <>
      <Fields form="login" fields={fields} draft={draft} problems={problems} onChange={onChange} />
      <fieldset>
        <legend class="s">{msg.permissions}</legend>
        <Radios
          name="login-permissions"
          options={PERMISSIONS.map(([value, meaning]) => [value, `${value}: ${meaning}`])}
          value={draft.permissions}
          onChange={(permissions) => onChange({ ...draft, permissions })}
        />
        {draft.permissions === "write" && pageConfig.signers !== "on" && (
          <p class="s">{msg.thisNodeHasNoSigners}</p>
        )}
      </fieldset>
    </>
  );
}

function CreateClient() {
  const { route } = useLocation();
  const draft = useDraft("login client", () => emptyLoginDraft);
  const action = useAction();
  async function create() {
    const values = newLoginValues(draft.value);
    const response = await action.operate({
      ...signed("POST /login_client", { body: withoutNulls(values) }),
      title: msg.registerALoginClient,
      words: msg.visitorsOfMaySignIn(values.origins.join(", "), values.name),
    });
    if (!response) return;
    draft.discard();
    route(`${LOGIN_PATH}/${response.login_client.client_id}`);
  }
  return (
    <SignedForm
      title={msg.newLoginClient}
      label={msg.signAndRegister}
      action={action}
      obstacle={obstacleOf(NEW_LOGIN_FIELDS, loginProblems(draft.value))}
      onSign={create}
    >
      <LoginInputs
        fields={NEW_LOGIN_FIELDS}
        draft={draft.value}
        problems={loginProblems(draft.value)}
        onChange={draft.set}
      />
    </SignedForm>
  );
}

/** Says that the operator has disabled it, and which setting enables it. */
function Off() {
  return (
    <section class="card pad stack" aria-label={msg.webSignInIsOff}>
      <p>
        <Pill kind="warn">{msg.off}</Pill> {msg.webSignInIsOff}
      </p>
      <p class="s">{msg.theOperatorTurnsItOnBy(<code>web_signin.enabled = true</code>)}</p>
    </section>
  );
}

function Clients() {
  const query = useOwnerQuery(signed("GET /login_client/list"));
  return (
    <>
      {!pageConfig.webSignIn && <Off />}
      <OwnerRegion
        title={msg.yourLoginClients}
        query={query}
        isEmpty={({ login_clients }) => login_clients.length === 0}
        empty={msg.noLoginClientsYet}
      >
        {({ login_clients }) => (
          <DataTable
            stacks
            label={msg.loginClients}
            columns={COLUMNS}
            rows={login_clients}
            keyOf={({ client_id }) => client_id}
          />
        )}
      </OwnerRegion>
      <CreateClient />
    </>
  );
}

/** The owner's apps whose visitors sign in through the login page, and the form of a new one. */
export function Page() {
  return (
    <ManagePage
      title={msg.loginClients}
      actions={
        <a class="btn" href={TRY_PATH}>
          {msg.tryASignIn}
        </a>
      }
    >
      {() => <Clients />}
    </ManagePage>
  );
}
