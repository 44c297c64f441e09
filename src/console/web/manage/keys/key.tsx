import { useEffect, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { formatCount } from "../../data/format.ts";
import { nowMs } from "../../data/now.ts";
import { OwnerRegion } from "../../owner/owner-region.tsx";
import { useOwnerQuery } from "../../owner/use-owner-query.ts";
import { Time } from "../../parts/time.tsx";
import { plainName } from "../../text/name.ts";
import { Outcome, useAction } from "../action.tsx";
import { ManagePage } from "../manage-page.tsx";
import {
  type ApiKey,
  activateOperation,
  deleteOperation,
  KEYS_PATH,
  keyCall,
  type NewSecret,
  rotateOperation,
  usageCall,
} from "./api-key.ts";
import { KeySettings } from "./key-settings.tsx";
import { KeyState } from "./keys.tsx";
import { SecretOnce } from "./secret-once.tsx";
import type { Usage } from "./usage.ts";
import { UsageView } from "./usage-view.tsx";

const EVERY_MS = 60_000;
const DAY_SECS = 86_400;

function Facts({ apiKey }: { apiKey: ApiKey }) {
  const { prefix, scopes, app_id, units_per_minute, writes_per_minute } = apiKey;
  const ends = apiKey.secrets.filter(({ expires_at }) => expires_at !== null);
  return (
    <dl class="pairs pad">
      <dt>Begins with</dt>
      <dd>
        <code>{prefix}…</code>
      </dd>
      <dt>It may</dt>
      <dd>{scopes.join(", ")}</dd>
      {app_id !== null && (
        <>
          <dt>For the app</dt>
          <dd>
            <a class="mono" href={`/console/manage/apps/${app_id}`}>
              {app_id}
            </a>
          </dd>
        </>
      )}
      <dt>At most</dt>
      <dd>
        {formatCount(units_per_minute)} units and {formatCount(writes_per_minute)} writes a minute
      </dd>
      <dt>Created</dt>
      <dd>
        <Time ago at={apiKey.created_at} />
      </dd>
      <dt>Last used</dt>
      <dd>{apiKey.last_used_at === null ? "never" : <Time ago at={apiKey.last_used_at} />}</dd>
      <dt>Ends</dt>
      <dd>{apiKey.expires_at === null ? "never" : <Time at={apiKey.expires_at} />}</dd>
      {ends.map(({ uid, expires_at }) => (
        <>
          <dt key={uid}>Earlier secret</dt>
          <dd key={`${uid} end`}>stops {expires_at !== null && <Time at={expires_at} />}</dd>
        </>
      ))}
    </dl>
  );
}

function Acts({ apiKey, onChanged }: { apiKey: ApiKey; onChanged: () => void }) {
  const { route } = useLocation();
  const [secret, setSecret] = useState<string>();
  const action = useAction();
  async function rotate(graceSecs: number) {
    const response = await action.operate<NewSecret>(rotateOperation(apiKey, graceSecs));
    if (!response) return;
    setSecret(response.secret);
    onChanged();
  }
  async function activate() {
    if (await action.operate(activateOperation(apiKey))) onChanged();
  }
  async function remove() {
    if (await action.operate(deleteOperation(apiKey))) route(KEYS_PATH);
  }
  return (
    <>
      {secret !== undefined && <SecretOnce secret={secret} onDone={() => setSecret(undefined)} />}
      <section class="card" aria-labelledby="key-acts">
        <header>
          <h2 class="grow" id="key-acts">
            Rotate or delete it
          </h2>
        </header>
        <div class="pad stack">
          <p class="s dim">
            Rotating makes a new secret: do it when somebody else may know this one, or once in a while. With
            a day left, you can put the new one where the key is used before the old one stops.
          </p>
          <div class="row wrap">
            <button type="button" class="btn" aria-disabled={action.isBusy} onClick={() => rotate(DAY_SECS)}>
              Rotate, old one ends in a day
            </button>
            <button type="button" class="btn" aria-disabled={action.isBusy} onClick={() => rotate(0)}>
              Rotate, old one ends now
            </button>
            {!apiKey.active && (
              <button type="button" class="btn" aria-disabled={action.isBusy} onClick={activate}>
                Activate
              </button>
            )}
            <button type="button" class="btn bad" aria-disabled={action.isBusy} onClick={remove}>
              Delete
            </button>
          </div>
          <Outcome action={action} />
        </div>
      </section>
    </>
  );
}

function Key({ id, onName }: { id: string; onName: (name: string) => void }) {
  const call = keyCall(id);
  const query = useOwnerQuery<{ api_key: ApiKey }>(call, { everyMs: EVERY_MS });
  // The day changes while the page is open.
  const now = nowMs.value;
  const usage = usageCall(id, now);
  const used = useOwnerQuery<Usage>(usage, { everyMs: EVERY_MS });
  const key = query.data?.api_key;
  const name = key && plainName(key.name);
  useEffect(() => {
    if (name !== undefined) onName(name);
  }, [name]);
  return (
    <>
      <OwnerRegion
        title="The key"
        call={call}
        query={query}
        prompted={query}
        aside={key && <KeyState apiKey={key} />}
      >
        {({ api_key }) => <Facts apiKey={api_key} />}
      </OwnerRegion>
      <OwnerRegion
        title="Used for, in 30 days"
        call={usage}
        query={used}
        prompted={used}
        isEmpty={(data) => data.usage.length === 0}
        empty="Nobody has used it in these 30 days. Uses of the API with a key appear here within ten seconds."
      >
        {(data) => <UsageView rows={data.usage} nowMs={now} />}
      </OwnerRegion>
      {key && <KeySettings apiKey={key} onChanged={() => query.refresh()} />}
      {key && <Acts apiKey={key} onChanged={() => query.refresh()} />}
    </>
  );
}

/** One API key: what it may, what it was used for, rotation and deletion. */
export function Page() {
  const { params } = useRoute();
  const id = params.id ?? "";
  const [name, setName] = useState("API key");
  return (
    <ManagePage title={name} crumbs={[{ label: "API keys", href: KEYS_PATH }]}>
      {() => <Key id={id} onName={setName} key={id} />}
    </ManagePage>
  );
}
