import { useEffect, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { nowMs } from "../../data/visibility.ts";
import { ActionButton, Outcome, useAction } from "../../owner/action.tsx";
import { OwnerRegion, useOwnerQuery } from "../../owner/owner-data.tsx";
import { signed } from "../../owner/signed-call.ts";
import { announce } from "../../parts/copy.tsx";
import { obstacleOf } from "../../parts/fields.ts";
import { Time } from "../../parts/pill.tsx";
import { Card } from "../../parts/region.tsx";
import { type Column, DataTable, Facts, numberColumn, timeOrNever } from "../../parts/table.tsx";
import * as msg from "../../text/en/manage/manage.ts";
import { formatCount } from "../../text/format.ts";
import { plainName } from "../../text/name.ts";
import { SignedForm } from "../action.tsx";
import { ManagePage } from "../manage-page.tsx";
import {
  type ApiKey,
  byDay,
  byRoute,
  type Counts,
  dayText,
  draftOfKey,
  KEY_FIELDS,
  type KeyChanges,
  keyChanges,
  keyProblems,
  lastDays,
  SCOPES_FIELD,
  USAGE_DAYS,
  type UsageRow,
} from "./key-fields.ts";
import { KEYS_PATH, KeyInputs, KeySecret, KeyState } from "./keys.tsx";

const EVERY_MS = 60_000;
const DAY_SECS = 86_400;
const WIDTH = 300;
const HEIGHT = 72;
const STEP = WIDTH / USAGE_DAYS;

/** Requests per day as bars. The figures are in the tables below and in the titles. */
function Bars({ days }: { days: readonly { readonly day: string; readonly counts: Counts }[] }) {
  const top = Math.max(...days.map(({ counts }) => counts.requests), 1);
  const total = days.reduce((all, { counts }) => all + counts.requests, 0);
  return (
    <svg
      class="bars"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={msg.inDaysAtMostInA(msg.countRequests(total), USAGE_DAYS, formatCount(top))}
    >
      {days.map(({ day, counts }, index) => {
        const height = counts.requests === 0 ? 1 : Math.max(2, (counts.requests / top) * (HEIGHT - 2));
        return (
          <rect key={day} x={index * STEP + 1} y={HEIGHT - height} width={STEP - 2} height={height}>
            <title>{`${day}: ${formatCount(counts.requests)}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}

type Row = { readonly name: string } & Counts;

const columns = (first: string): readonly Column<Row>[] => [
  { title: first, cell: ({ name }) => <span class="mono">{name}</span> },
  numberColumn(msg.requests, ({ requests }) => requests),
  numberColumn(msg.units, ({ units }) => units),
  numberColumn(msg.writes, ({ writes }) => writes),
  numberColumn(msg.errors, ({ errors }) => errors),
  numberColumn(msg.limited, ({ limited }) => limited),
];
const ROUTE_COLUMNS = columns(msg.route);
const DAY_COLUMNS = columns(msg.utcDay);

/** What a key was used for in 30 days: by day, and by route. */
function UsageView({ rows, nowMs }: { rows: readonly UsageRow[]; nowMs: number }) {
  const days = byDay(rows, lastDays(nowMs));
  const routes = byRoute(rows).map(({ route, counts }) => ({ name: route, ...counts }));
  const used = days
    .filter(({ counts }) => counts.requests > 0)
    .map(({ day, counts }) => ({ name: day, ...counts }))
    .reverse();
  return (
    <>
      <div class="pad">
        <Bars days={days} />
        <p class="row xs dim" aria-hidden="true">
          <span class="grow">{days[0]?.day}</span>
          <span>{days.at(-1)?.day}</span>
        </p>
      </div>
      <DataTable
        stacks
        label={msg.usageByRoute}
        columns={ROUTE_COLUMNS}
        rows={routes}
        keyOf={({ name }) => name}
      />
      <details class="pad">
        <summary>{msg.byDay}</summary>
        <DataTable
          stacks
          label={msg.usageByDay}
          columns={DAY_COLUMNS}
          rows={used}
          keyOf={({ name }) => name}
        />
      </details>
    </>
  );
}

function KeyFacts({ apiKey }: { apiKey: ApiKey }) {
  const { prefix, scopes, app_id, units_per_minute, writes_per_minute, created_at, secrets } = apiKey;
  const ends = secrets.flatMap(({ expires_at }) => expires_at ?? []);
  return (
    <Facts
      facts={{
        [msg.prefix]: <code>{prefix}…</code>,
        [msg.scopes]: scopes.join(", "),
        [msg.miniAppTitle]: app_id !== null && (
          <a class="mono" href={`/console/manage/apps/${app_id}`}>
            {app_id}
          </a>
        ),
        [msg.limits]: msg.unitsAndWritesPerMinute(
          formatCount(units_per_minute),
          formatCount(writes_per_minute),
        ),
        [msg.createdTitle]: <Time ago at={created_at} />,
        [msg.lastUsedTitle]: timeOrNever(apiKey.last_used_at),
        [msg.expiresTitle]: apiKey.expires_at === null ? msg.never : <Time at={apiKey.expires_at} />,
        [msg.earlierSecret]: ends.length > 0 && <>{msg.expiresAt(<Time at={Math.max(...ends)} />)}</>,
      }}
    />
  );
}

const update = ({ api_key_id }: ApiKey, changes: KeyChanges) =>
  signed("PUT /api_key", { body: { api_key_id, ...changes } });

/** What the owner may change about a key: one request changes all of it. */
function KeySettings({ apiKey, onChanged }: { apiKey: ApiKey; onChanged: () => void }) {
  const [draft, setDraft] = useState(() => draftOfKey(apiKey));
  const action = useAction();
  const changes = keyChanges(apiKey, draft);
  // The expired date of a key stays as it is until it is changed.
  const { expires_at, ...others } = keyProblems(draft, nowMs.value);
  const problems = changes.expires_at === undefined ? others : { ...others, expires_at };
  const obstacle =
    obstacleOf([...KEY_FIELDS, SCOPES_FIELD], problems) ??
    (Object.keys(changes).length === 0 ? msg.nothingHasChanged : undefined);
  async function save() {
    const scopes = changes.scopes === undefined ? "" : msg.newScopes(changes.scopes.join(", "));
    const saved = await action.operate({
      ...update(apiKey, changes as KeyChanges),
      title: msg.changeTheApiKey,
      words: msg.changesAtOnceAndKeepsIts(apiKey.name, scopes),
    });
    if (!saved) return;
    announce(msg.saved);
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
      <KeyInputs draft={draft} onChange={setDraft} />
    </SignedForm>
  );
}

function KeyActions({ apiKey, onChanged }: { apiKey: ApiKey; onChanged: () => void }) {
  const { route } = useLocation();
  const [secret, setSecret] = useState<string>();
  const action = useAction();
  const { api_key_id, name } = apiKey;
  async function rotate(graceSecs: number) {
    const end = graceSecs === 0 ? msg.stopsAtOnce : msg.worksForMoreHours(graceSecs / 3600);
    const response = await action.operate({
      ...signed("POST /api_key/secret/rotate", { body: { api_key_id, grace_secs: graceSecs } }),
      title: msg.rotateTheSecret,
      words: msg.getsANewSecretWhichIs(name, end),
    });
    if (!response) return;
    setSecret(response.secret);
    onChanged();
  }
  async function activate() {
    const activated = await action.operate({
      ...update(apiKey, { active: true }),
      title: msg.activateTheApiKey,
      words: msg.isAcceptedAgainAndKeepsIts(name),
    });
    if (activated) onChanged();
  }
  async function remove() {
    const deleted = await action.operate({
      ...signed("DELETE /api_key", { body: { api_key_id } }),
      title: msg.deleteTheApiKey,
      words: msg.everyRequestWithIsRefusedFrom(name),
      typedName: name,
    });
    if (deleted) route(KEYS_PATH);
  }
  return (
    <>
      {secret !== undefined && <KeySecret secret={secret} onDone={() => setSecret(undefined)} />}
      <Card title={msg.rotateOrDelete}>
        <p class="s dim">{msg.rotatingCreatesANewSecretDo}</p>
        <div class="row wrap">
          <ActionButton action={action} onClick={() => rotate(DAY_SECS)}>
            {msg.rotateOldOneExpiresInA}
          </ActionButton>
          <ActionButton action={action} onClick={() => rotate(0)}>
            {msg.rotateOldOneExpiresNow}
          </ActionButton>
          {!apiKey.active && (
            <ActionButton action={action} onClick={activate}>
              {msg.activate}
            </ActionButton>
          )}
          <ActionButton action={action} kind="bad" onClick={remove}>
            {msg.deleteLabel}
          </ActionButton>
        </div>
        <Outcome action={action} />
      </Card>
    </>
  );
}

function Key({ id, onName }: { id: string; onName: (name: string) => void }) {
  const query = useOwnerQuery(signed("GET /api_key", { query: { api_key_id: id } }), { everyMs: EVERY_MS });
  // The day may change while the page is open.
  const now = nowMs.value;
  const range = { from: lastDays(now)[0], to: dayText(now) };
  const used = useOwnerQuery(signed("GET /api_key/usage", { query: { api_key_id: id, ...range } }), {
    everyMs: EVERY_MS,
  });
  const key = query.data?.api_key;
  const name = key && plainName(key.name);
  useEffect(() => {
    if (name !== undefined) onName(name);
  }, [name]);
  return (
    <>
      <OwnerRegion title={msg.apiKey} query={query} aside={key && <KeyState apiKey={key} />}>
        {({ api_key }) => <KeyFacts apiKey={api_key} />}
      </OwnerRegion>
      <OwnerRegion
        title={msg.usageLast30Days}
        query={used}
        isEmpty={(data) => data.usage.length === 0}
        empty={msg.notUsedInTheLast30}
      >
        {(data) => <UsageView rows={data.usage} nowMs={now} />}
      </OwnerRegion>
      {key && <KeySettings apiKey={key} onChanged={() => query.refresh()} />}
      {key && <KeyActions apiKey={key} onChanged={() => query.refresh()} />}
    </>
  );
}

/** One API key: its scopes, its usage, rotation and deletion. */
export function Page() {
  const { params } = useRoute();
  const id = params.id ?? "";
  const [name, setName] = useState(msg.apiKey);
  return (
    <ManagePage title={name} crumbs={[{ label: msg.apiKeys, href: KEYS_PATH }]}>
      {() => <Key id={id} onName={setName} key={id} />}
    </ManagePage>
  );
}
