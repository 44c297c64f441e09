import { useState } from "preact/hooks";
import { useDraft } from "../../data/draft.ts";
import { nowMs } from "../../data/visibility.ts";
import { useAction } from "../../owner/action.tsx";
import { OwnerRegion, useOwnerQuery } from "../../owner/owner-data.tsx";
import { signed } from "../../owner/signed-call.ts";
import { pageConfig } from "../../page-config.ts";
import { obstacleOf, withoutNulls } from "../../parts/fields.ts";
import { Checkbox, Fields, Labelled } from "../../parts/form.tsx";
import { Pill } from "../../parts/pill.tsx";
import { type Column, DataTable, timeOrNever } from "../../parts/table.tsx";
import * as msg from "../../text/en/manage/manage.ts";
import { formatMoment } from "../../text/format.ts";
import { plainName } from "../../text/name.ts";
import { UserName } from "../../text/user-text.tsx";
import { NewSecret, SignedForm } from "../action.tsx";
import { ManagePage } from "../manage-page.tsx";
import {
  type ApiKey,
  emptyKeyDraft,
  KEY_FIELDS,
  type KeyDraft,
  keyProblems,
  keyValues,
  SCOPES,
  SCOPES_FIELD,
  type Scope,
} from "./key-fields.ts";

const [NAME, DESCRIPTION, APP, ...LIMITS] = KEY_FIELDS;

interface KeyInputsProps {
  readonly draft: KeyDraft;
  readonly onChange: (draft: KeyDraft) => void;
}

/** The app for which a key may push: one of the owner's, or an id if this page does not have their list. */
function AppChoice({ draft, onChange }: KeyInputsProps) {
  const apps = useOwnerQuery(signed("GET /frame/app/list")).data?.apps;
  const { app_id: value } = draft;
  if (apps === undefined)
    return <Fields form="key" fields={[APP]} draft={draft} problems={{}} onChange={onChange} />;
  return (
    <Labelled id="key-app_id" label={APP.label} hint={apps.length > 1 ? msg.youHaveSeveralChooseOneOr : ""}>
      <select
        id="key-app_id"
        value={value}
        onChange={({ currentTarget }) => onChange({ ...draft, app_id: currentTarget.value })}
        aria-describedby="key-app_id-hint"
      >
        <option value="">{msg.yourOnlyApp}</option>
        {apps.map(({ app_id, name }) => (
          <option value={app_id} key={app_id}>
            {plainName(name)}
          </option>
        ))}
        {value !== "" && !apps.some(({ app_id }) => app_id === value) && (
          <option value={value}>{value}</option>
        )}
      </select>
    </Labelled>
  );
}

/** The inputs for the fields of a key. */
export function KeyInputs(props: KeyInputsProps) {
  const { draft, onChange } = props;
  const { scopes } = draft;
  const problems = keyProblems(draft, nowMs.value);
  const toggle = (scope: Scope, isOn: boolean) =>
    onChange({
      ...draft,
      scopes: SCOPES.map(([name]) => name).filter((name) => (name === scope ? isOn : scopes.includes(name))),
    });
  return (
    <>
      <Fields form="key" fields={[NAME, DESCRIPTION]} draft={draft} problems={problems} onChange={onChange} />
      <fieldset>
        <legend class="s">{msg.scopes}</legend>
        <div class="checks column">
          {SCOPES.map(([scope, meaning]) => (
            <Checkbox
              class="s"
              key={scope}
              checked={scopes.includes(scope)}
              onChange={(isOn) => toggle(scope, isOn)}
            >
              <span>
                <b>{scope}</b>{" "}
                <span class="dim">
                  {meaning}
                  {scope === "signers" && pageConfig.signers !== "on" && msg.thisNodeHasNone}
                </span>
              </span>
            </Checkbox>
          ))}
        </div>
      </fieldset>
      {scopes.includes("push") && <AppChoice {...props} />}
      <div class="three">
        <Fields form="key" fields={LIMITS} draft={draft} problems={problems} onChange={onChange} />
      </div>
    </>
  );
}

export const KEYS_PATH = "/console/manage/keys";
const EVERY_MS = 60_000;

const COLUMNS: readonly Column<ApiKey>[] = [
  {
    title: msg.name,
    cell: ({ api_key_id, name }) => (
      <a data-open href={`${KEYS_PATH}/${api_key_id}`}>
        <UserName name={name} />
      </a>
    ),
  },
  { title: msg.prefix, cell: ({ prefix }) => <code>{prefix}…</code> },
  { title: msg.scopes, cell: ({ scopes }) => scopes.join(", ") },
  { title: msg.lastUsedTitle, cell: ({ last_used_at }) => timeOrNever(last_used_at) },
  { title: msg.state, cell: (key) => <KeyState apiKey={key} /> },
];

/** Shows whether a key is accepted and, if not, why. */
export function KeyState({ apiKey }: { apiKey: ApiKey }) {
  if (apiKey.active) return <Pill kind="ok">{msg.active}</Pill>;
  return <Pill kind="bad">{apiKey.inactive_reason ?? msg.notActive}</Pill>;
}

/** The text of a key, which the node cannot show again. */
export function KeySecret({ secret, onDone }: { secret: string; onDone: () => void }) {
  return (
    <NewSecret title={msg.copyTheKeyNow} secret={secret} onDone={onDone}>
      {msg.theNodeStoresOnlyAHash}
    </NewSecret>
  );
}

function CreateKey({ onCreated }: { onCreated: () => void }) {
  const draft = useDraft("api key", () => emptyKeyDraft);
  const [secret, setSecret] = useState<string>();
  const action = useAction();
  async function create() {
    const values = keyValues(draft.value);
    const { scopes, expires_at } = values;
    const end = expires_at === null ? "" : msg.until(formatMoment(expires_at * 1000));
    const response = await action.operate({
      ...signed("POST /api_key", { body: withoutNulls(values) }),
      title: msg.createAnApiKey,
      words: msg.aProgramWithTheKeyMay(scopes.join(", "), end),
    });
    if (!response) return;
    setSecret(response.secret);
    draft.set(emptyKeyDraft);
    draft.discard();
    onCreated();
  }
  if (secret !== undefined) return <KeySecret secret={secret} onDone={() => setSecret(undefined)} />;
  return (
    <SignedForm
      title={msg.newKey}
      label={msg.signAndCreate}
      action={action}
      obstacle={obstacleOf([...KEY_FIELDS, SCOPES_FIELD], keyProblems(draft.value, nowMs.value))}
      onSign={create}
    >
      <KeyInputs draft={draft.value} onChange={draft.set} />
    </SignedForm>
  );
}

function Keys() {
  const query = useOwnerQuery(signed("GET /api_key/list"), { everyMs: EVERY_MS });
  return (
    <>
      <OwnerRegion
        title={msg.yourKeys}
        query={query}
        isEmpty={({ api_keys }) => api_keys.length === 0}
        empty={msg.noApiKeysYetReadsNeed}
      >
        {({ api_keys }) => (
          <DataTable
            stacks
            label={msg.apiKeys}
            columns={COLUMNS}
            rows={api_keys}
            keyOf={({ api_key_id }) => api_key_id}
          />
        )}
      </OwnerRegion>
      <CreateKey onCreated={() => query.refresh()} />
    </>
  );
}

/** The API keys of the owner, and the form of a new one. */
export function Page() {
  return <ManagePage title={msg.apiKeys}>{() => <Keys />}</ManagePage>;
}
