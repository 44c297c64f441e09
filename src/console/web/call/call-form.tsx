import { type Call, get } from "../data/call.ts";
import { useQuery } from "../data/query.ts";
import { apiKey } from "../data/request.ts";
import { type Action, Outcome } from "../owner/action.tsx";
import { owner } from "../owner/owner.ts";
import { pageConfig } from "../page-config.ts";
import { CopyButton } from "../parts/copy.tsx";
import { Field, Labelled } from "../parts/form.tsx";
import * as msg from "../text/en/tools/call.ts";
import { plainName } from "../text/name.ts";
import { streamFiltersOf } from "./code.ts";
import { type CallField, type CallTexts, choicesOf } from "./form.ts";
import type { OperationForm } from "./operation.ts";

/** Renders a text of the document, in which code is between backticks. */
const withCode = (text: string) =>
  text.split("`").map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part));

/** Returns the document's description of a field in one line. */
function hintOf({ schema, kind, description, isRequired }: CallField): string {
  const { minimum, maximum, default: byDefault } = schema;
  return [
    ...(description === undefined ? [] : [description]),
    ...(minimum === undefined || minimum === 0 ? [] : [msg.from(minimum)]),
    ...(maximum === undefined ? [] : [msg.upTo(maximum)]),
    ...(kind === "list" ? [msg.listOfValues] : kind === "json" ? [msg.asJson] : []),
    ...(byDefault === undefined ? [] : [msg.byDefault(String(byDefault))]),
    ...(isRequired ? [] : [msg.optional]),
  ].join(" · ");
}

function CallInput(props: {
  field: CallField;
  text: string;
  problem: string | undefined;
  onInput: (text: string) => void;
}) {
  const { field, text, problem, onInput } = props;
  const { key, name, kind, isRequired } = field;
  const label = name === "" ? msg.theBody : name;
  const shared = { label, problem: text === "" ? undefined : problem, hint: withCode(hintOf(field)) };
  const choices = choicesOf(field);
  const picked = pickedBy(field);
  if (kind !== "choice")
    return (
      <>
        <Field
          {...shared}
          name={key}
          value={text}
          onInput={onInput}
          type={kind === "number" && picked === undefined ? "number" : "text"}
          {...(kind === "json" && { rows: 5 })}
          {...(isRequired && { required: true })}
        />
        {picked && <Picker kind={picked} text={text} onPick={onInput} />}
      </>
    );
  return (
    <Labelled id={key} {...shared}>
      <select
        id={key}
        name={key}
        value={text}
        aria-describedby={`${key}-hint`}
        onChange={({ currentTarget }) => onInput(currentTarget.value)}
      >
        <option value="">{msg.notSent}</option>
        {choices.map((choice) => (
          <option value={choice} key={choice}>
            {choice}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

/** Says who signs before the button does. */
function Signing({ form }: { form: OperationForm }) {
  const { access, method } = form;
  if (access === "envelope") return <p class="s dim">{msg.itsBodyIsSigned}</p>;
  if (access !== "signed" && access !== "session") return null;
  if (!owner.value)
    return <p class="s">{msg.connectFirst(<a href="/console/manage">{msg.connectAWallet}</a>)}</p>;
  const bySession = access === "session" && method === "GET" && owner.value.session !== undefined;
  return <p class="s dim">{bySession ? msg.theSessionSigns : msg.requiresOneSignature}</p>;
}

/** Offers to watch or forward a call that reads past events. */
function Watching({ call }: { call: Call }) {
  const filters = streamFiltersOf(call, pageConfig.service);
  if (filters === undefined) return null;
  return (
    <>
      {pageConfig.stream && (
        <a class="btn" href={`/console/stream?${filters}`}>
          {msg.watchAsAStream}
        </a>
      )}
      {pageConfig.manage && (
        <a class="btn" href={`/console/manage/webhooks/new?${filters}`}>
          {msg.saveAsAWebhook}
        </a>
      )}
    </>
  );
}

export interface CallFormProps {
  readonly form: OperationForm;
  readonly fields: readonly CallField[];
  readonly texts: CallTexts;
  readonly problems: Readonly<Record<string, string>>;
  /** Undefined while the form has problems. */
  readonly call: Call | undefined;
  /** The absolute link to the call. */
  readonly link: string | undefined;
  readonly action: Action;
  readonly onChange: (texts: CallTexts) => void;
  readonly onExample: () => void;
  readonly onRun: () => void;
}

/** The form of an operation. */
export function CallForm(props: CallFormProps) {
  const { form, fields, texts, problems, call, link, action, onChange, onExample, onRun } = props;
  const isSigned = form.access === "signed" || form.access === "session";
  const canRun = call !== undefined && !form.isStream && (!isSigned || owner.value !== undefined);
  return (
    <form
      class="card"
      aria-label={form.summary}
      onSubmit={(event) => {
        event.preventDefault();
        if (canRun && !action.isBusy) onRun();
      }}
    >
      <header>
        <h2 class="grow">{form.summary}</h2>
        <a class="s" href={`/docs?api=${pageConfig.service}`} target="_self">
          {msg.fullReference}
        </a>
      </header>
      <div class="pad stack">
        <p class="mono s">
          <b>{form.method}</b> <span class="user">{form.path}</span>
        </p>
        {form.description !== undefined && <p class="s dim measure">{withCode(form.description)}</p>}
        {fields.map((field) => (
          <CallInput
            key={field.key}
            field={field}
            text={texts[field.key] ?? ""}
            problem={problems[field.key]}
            onInput={(text) => onChange({ ...texts, [field.key]: text })}
          />
        ))}
        {!isSigned && (!pageConfig.anonymous || form.access === "key") && (
          <Field
            label={msg.apiKey}
            name="call-api-key"
            type="password"
            value={apiKey.value ?? ""}
            hint={msg.itStaysInMemory}
            onInput={(text) => {
              apiKey.value = text === "" ? undefined : text;
            }}
          />
        )}
        <Signing form={form} />
        <Outcome action={action} />
        {form.isStream && (
          <p class="s">
            {msg.aStreamDoesNotEnd(
              <a href={`/console/stream${call ? callQuery(call) : ""}`}>{msg.openTheStream}</a>,
            )}
          </p>
        )}
        <div class="row wrap">
          {!form.isStream && (
            <button type="submit" class="btn go" disabled={!canRun} aria-disabled={action.isBusy}>
              {isSigned ? msg.signAndRun : msg.run}
            </button>
          )}
          <button type="button" class="btn" onClick={onExample}>
            {msg.fillTheExample}
          </button>
          <button type="button" class="btn" onClick={() => onChange({})}>
            {msg.clear}
          </button>
          {link !== undefined && <CopyButton text={link} label={msg.copyLink} quiet={false} />}
          {call && <Watching call={call} />}
        </div>
        <p class="xs dim">{msg.aLinkHasNoSecrets}</p>
      </div>
    </form>
  );
}

const callQuery = ({ path }: Call) => (path.includes("?") ? path.slice(path.indexOf("?")) : "");

/** Returns what a field refers to, if it can be looked up by words. */
function pickedBy({ name }: CallField): "people" | "channels" | undefined {
  if (/(^|_)fids?$/.test(name)) return "people";
  return /^channel_ids?$/.test(name) ? "channels" : undefined;
}

const OFFERED = 4;
/** Returns the word that is being typed; fids are digits. */
const wordOf = (text: string) => /[^\s,]+$/.exec(text)?.[0].replace(/^[@/]/, "") ?? "";

/** Lists people or channels whose names begin with the typed word; a click replaces it by the id. */
function Picker(props: { kind: "people" | "channels"; text: string; onPick: (text: string) => void }) {
  const { kind, text, onPick } = props;
  const word = wordOf(text);
  const isWord = kind === "people" ? /^[a-z][\w.-]*$/i.test(word) : /^[\w-]{2,}$/.test(word);
  const people = useQuery(
    isWord && kind === "people" ? get("/user/search", { q: word, limit: OFFERED }) : undefined,
  );
  const channels = useQuery(
    isWord && kind === "channels" ? get("/channel/search", { q: word, limit: OFFERED }) : undefined,
  );
  if (!isWord) return null;
  const found =
    kind === "people"
      ? (people.data?.users ?? []).map(({ fid, username }) => [String(fid), `@${username}`] as const)
      : (channels.data?.channels ?? []).map(({ id }) => [id, `/${id}`] as const);
  const offered = found.filter(([id]) => id !== word);
  if (offered.length === 0) return null;
  return (
    <section class="row wrap tight" aria-label={msg.found}>
      {offered.map(([id, name]) => (
        <button
          type="button"
          class="btn quiet"
          key={id}
          onClick={() => onPick(text.replace(/[^\s,]+$/, () => id))}
        >
          <bdi class="user">{plainName(name)}</bdi> <span class="dim mono xs">{id}</span>
        </button>
      ))}
    </section>
  );
}
