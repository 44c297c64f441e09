import { signal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { operations } from "../../../../client/src/operations.generated.ts";
import type { Call } from "../data/call.ts";
import { commandOf } from "../data/commands.ts";
import { useQuery } from "../data/query.ts";
import { useAction } from "../owner/action.tsx";
import { owner } from "../owner/owner.ts";
import { signedSnippets } from "../owner/signed-snippets.ts";
import { apiPrefix, nodeOrigin } from "../page-config.ts";
import { CallPanel, site } from "../parts/call-panel.tsx";
import { announce } from "../parts/copy.tsx";
import { Labelled } from "../parts/form.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { Pill, Time } from "../parts/pill.tsx";
import { Card, FailureBox, Skeleton } from "../parts/region.tsx";
import * as msg from "../text/en/tools/call.ts";
import { formatDuration } from "../text/format.ts";
import { CallForm } from "./call-form.tsx";
import { callLink, readCallLink } from "./call-link.ts";
import { codeOf } from "./code.ts";
import {
  type CallTexts,
  callOf,
  exampleTexts,
  fieldsOf,
  type GivenCall,
  operationOf,
  problemsOf,
  textsOf,
} from "./form.ts";
import type { OperationForm, OperationLine } from "./operation.ts";
import { ResponseView } from "./response.tsx";
import { type Outcome, runCall } from "./run.ts";

const LINES: Call<{ readonly operations: readonly OperationLine[] }> = {
  method: "GET",
  path: "/console/api/operation",
};
const formCall = (id: string): Call<OperationForm> => ({
  method: "GET",
  path: `/console/api/operation?id=${encodeURIComponent(id)}`,
});

/** Returns the call that the page's address contains after `#`; an operation is given by `?id=`. */
const givenCall = () => readCallLink(location.hash);

/** Shows a call of the API as a form, which a link fills and a person runs. */
export function Page() {
  const { url, query, route } = useLocation();
  const list = useQuery(LINES);
  const [given, setGiven] = useState<GivenCall | undefined>(givenCall);
  // A link within the page changes only the part after `#`.
  useEffect(() => {
    const read = () => setGiven(givenCall());
    read();
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, [url]);
  const lines = list.data?.operations;
  const line = lines && (given ? operationOf(lines, given) : lines.find(({ id }) => id === query.id));
  const byTag = [...Map.groupBy(lines ?? [], ({ tag }) => tag)];
  return (
    <>
      <PageHead title={msg.runACall} />
      <div class="stack">
        {list.error && <FailureBox failure={list.error} retry={() => list.refresh()} />}
        <div class="card pad">
          <Labelled id="operation" label={msg.operation} hint={msg.whatThisPageDoes}>
            <select
              id="operation"
              value={line?.id ?? ""}
              aria-describedby="operation-hint"
              onChange={({ currentTarget }) => route(`/console/call?id=${currentTarget.value}`)}
            >
              <option value="">{msg.chooseAnOperation}</option>
              {byTag.map(([tag, ofTag]) => (
                <optgroup label={tag} key={tag}>
                  {ofTag.map(({ id, method, path, summary }) => (
                    <option value={id} key={id}>
                      {`${method} ${path} · ${summary}`}
                    </option>
                  ))}
                </optgroup>
              ))}
            </select>
          </Labelled>
          {lines && given && !line && (
            <p class="failure" role="alert">
              {msg.theApiHasNoSuchCall}
            </p>
          )}
        </div>
        {!lines && !list.error && <Skeleton rows={4} />}
        {line && (
          <Operation line={line} given={given} key={`${line.id} ${given ? callLink(given as Call) : ""}`} />
        )}
        <SavedList />
      </div>
    </>
  );
}

function Operation({ line, given }: { line: OperationLine; given: GivenCall | undefined }) {
  const query = useQuery(formCall(line.id));
  const form = query.data;
  if (query.error) return <FailureBox failure={query.error} retry={() => query.refresh()} />;
  return form ? <Runner form={form} given={given} /> : <Skeleton rows={4} />;
}

/** Adds the operation's name and command to a call that a wallet signs. */
function withOperation(call: Call): Call {
  const [bare = "", query = ""] = call.path.split("?");
  const route = `${call.method} ${bare.slice(apiPrefix.length)}`;
  const op = operations[route];
  if (op === undefined) return call;
  const fields = { ...Object.fromEntries(new URLSearchParams(query)), ...(call.body as object | undefined) };
  const command = commandOf(route as Parameters<typeof commandOf>[0], fields);
  return { ...call, op, snippets: signedSnippets, ...command };
}

function Runner({ form, given }: { form: OperationForm; given: GivenCall | undefined }) {
  const fields = useMemo(() => fieldsOf(form), [form]);
  const [texts, setTexts] = useState<CallTexts>(() => (given ? textsOf(form, given) : exampleTexts(form)));
  const [outcome, setOutcome] = useState<Outcome>();
  const action = useAction();
  const problems = problemsOf(fields, texts);
  const call = useMemo(
    () => (Object.keys(problems).length === 0 ? withOperation(callOf(form, texts)) : undefined),
    [form, texts],
  );
  const link = call && callLink(call);
  const result = useRef<HTMLElement>(null);

  // The address always matches the form, so that a reload or going back shows it again.
  useEffect(() => {
    if (link !== undefined) history.replaceState(history.state, "", link);
  }, [link]);

  const run = (sent: Call) =>
    action.run(async () => {
      try {
        const found = await runCall(sent, form);
        saveCall(sent, found);
        setOutcome(found);
        announce(`${msg.responseTitle}: ${found.status}`);
        result.current?.scrollIntoView({ block: "nearest" });
        return undefined;
      } catch (cause) {
        setOutcome(undefined);
        throw cause;
      }
    });
  const cursorField = fields.find(({ key }) => key === "query.cursor");
  const onNextPage =
    cursorField &&
    ((cursor: string) => {
      const next = { ...texts, [cursorField.key]: cursor };
      setTexts(next);
      void run(withOperation(callOf(form, next)));
    });
  const shown =
    outcome && outcome.status >= 400 ? { ...problems, ...refusedField(fields, outcome) } : problems;
  return (
    <>
      <div class="split even">
        <CallForm
          form={form}
          fields={fields}
          texts={texts}
          problems={shown}
          call={call}
          link={link && nodeOrigin + link}
          action={action}
          onChange={(next) => {
            setTexts(next);
          }}
          onExample={() => setTexts(exampleTexts(form))}
          onRun={() => call && void run(call)}
        />
        <section class="card" aria-label={msg.responseTitle} ref={result} aria-busy={action.isBusy}>
          <header>
            <h2 class="grow">{msg.responseTitle}</h2>
          </header>
          {outcome ? (
            <ResponseView outcome={outcome} onNextPage={onNextPage} />
          ) : (
            <p class="empty">{msg.runItToSeeItsResponse}</p>
          )}
        </section>
      </div>
      {call && (
        <CallPanel
          call={call}
          title={msg.asCode}
          more={codeOf(call, form, site)}
          canEdit={false}
          {...(owner.value && { fid: owner.value.fid })}
        />
      )}
    </>
  );
}

/** Returns the field with which a refusal begins: `fid must be …`, `fids[3] is …`. */
function refusedField(
  fields: ReturnType<typeof fieldsOf>,
  { json }: Outcome,
): Readonly<Record<string, string>> {
  const { message } = Object(json) as { message?: unknown };
  if (typeof message !== "string") return {};
  const [, name] = /^(?:query |body )?["'`]?(\w+)/.exec(message) ?? [];
  const field = fields.find((one) => one.name === name);
  return field ? { [field.key]: message } : {};
}

/** Lists the last calls of this browser. */
function SavedList() {
  const calls = savedCalls.value;
  if (calls.length === 0) return null;
  const forget = (
    <button type="button" class="btn quiet" onClick={forgetCalls}>
      {msg.forgetThem}
    </button>
  );
  return (
    <Card title={msg.lastCalls} aside={forget}>
      <p class="s dim">{msg.onlyInThisBrowser}</p>
      <ul class="rows">
        {calls.map(({ link, method, path, status, ms, at }) => (
          <li class="record row wrap s" key={link}>
            <Pill kind={status >= 200 && status < 400 ? "ok" : "bad"}>{status || msg.noResponse}</Pill>
            <a class="grow what mono user" href={link}>
              {method} {path}
            </a>
            <span class="dim">{formatDuration(ms)}</span>
            <Time ago at={at} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** A call that was run here. Only the browser stores the list, not the node. */
interface SavedCall {
  /** The link to the call, which contains no secrets. */
  readonly link: string;
  readonly method: string;
  readonly path: string;
  /** 0 if there was no response. */
  readonly status: number;
  readonly ms: number;
  /** Unix seconds. */
  readonly at: number;
}

const KEY = "calls";
const MAX_CALLS = 50;

function isSaved(value: unknown): value is SavedCall {
  const { link, method, path, status, ms, at } = Object(value) as Record<string, unknown>;
  return (
    [link, method, path].every((one) => typeof one === "string") &&
    [status, ms, at].every((one) => Number.isFinite(one)) &&
    String(link).startsWith("/console/call#")
  );
}

function read(): readonly SavedCall[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isSaved).slice(0, MAX_CALLS) : [];
  } catch {
    return [];
  }
}

const savedCalls = signal(read());

function store(calls: readonly SavedCall[]): void {
  savedCalls.value = calls;
  try {
    localStorage.setItem(KEY, JSON.stringify(calls));
  } catch {
    // If the browser stores nothing, the list is kept until the page is left.
  }
}

/** Puts a call at the head of the list, and removes an earlier identical one. */
function saveCall(call: Call, { status, ms }: Pick<SavedCall, "status" | "ms">): void {
  const link = callLink(call);
  const path = new URLSearchParams(link.slice(link.indexOf("#") + 1)).get("call")?.replace(/^\w+ /, "") ?? "";
  const saved = { link, method: call.method, path, status, ms, at: Math.floor(Date.now() / 1000) };
  store([saved, ...savedCalls.peek().filter((one) => one.link !== link)].slice(0, MAX_CALLS));
}

const forgetCalls = () => store([]);
