import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import type { Call, Site, Snippet } from "../data/call.ts";
import { snippetsOf } from "../data/snippets.ts";
import { Icon } from "../icons/icons.tsx";
import { nodeOrigin, pageConfig } from "../page-config.ts";
import * as msg from "../text/en/common.ts";
import { formatBytes, formatDuration } from "../text/format.ts";
import { CopyButton } from "./copy.tsx";
import { Tabs, tabPanelProps } from "./page-head.tsx";

/** The duration of a request, and the size of its decoded body. */
interface RequestTiming {
  readonly durationMs: number;
  readonly bytes: number;
}

const MAX_KEPT = 100;
const timings = signal<ReadonlyMap<string, RequestTiming>>(new Map());

new PerformanceObserver((list) => {
  const next = new Map(timings.peek());
  for (const entry of list.getEntries() as PerformanceResourceTiming[]) {
    if (entry.initiatorType !== "fetch") continue;
    const path = entry.name.slice(location.origin.length);
    next.delete(path);
    next.set(path, { durationMs: entry.responseEnd - entry.requestStart, bytes: entry.decodedBodySize });
  }
  for (const path of next.keys()) {
    if (next.size <= MAX_KEPT) break;
    next.delete(path);
  }
  timings.value = next;
}).observe({ type: "resource", buffered: true });

/** Returns the browser's measurements of the last request to a path with its query. */
const timingOf = (path: string): RequestTiming | undefined => timings.value.get(path);

const TOKENS = /('(?:[^']|'\\'')*'|"(?:[^"\\]|\\.)*")|\b(curl|svc|await|const|import|from|new|process)\b/g;

/** A snippet with its strings and words highlighted, in text nodes only. */
function Highlighted({ text }: { text: string }) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(TOKENS)) {
    parts.push(text.slice(end, match.index));
    parts.push(<span class={match[1] === undefined ? "k" : "v"}>{match[0]}</span>);
    end = match.index + match[0].length;
  }
  parts.push(text.slice(end));
  return <code>{parts}</code>;
}

function Measured({ path }: { path: string }) {
  const timing = timingOf(path);
  if (!timing || timing.durationMs <= 0) return null;
  return (
    <span class="mono">
      {formatDuration(timing.durationMs)} · {formatBytes(timing.bytes)}
    </span>
  );
}

const { service, domain, headerPrefix, anonymous } = pageConfig;
/** What snippets contain about this node. */
export const site: Site = { origin: nodeOrigin, service, domain, headerPrefix, needsApiKey: !anonymous };
let counter = 0;

/** Returns the page that shows the call as a form, which leaves out secrets. */
const editPage = ({ method, path, body }: Call) =>
  `/console/call#${new URLSearchParams({ call: `${method} ${path}`, ...(body !== undefined && { body: JSON.stringify(body) }) })}`;

/** The call behind a view, to copy: for the shell, for TypeScript, for the hosted API's SDK. */
export function CallPanel(props: {
  call: Call;
  title?: string;
  /** The fid that signs the call. */
  fid?: number;
  /** Additional ways to make this call. */
  more?: readonly Snippet[];
  /** False if the call is already shown as a form. */
  canEdit?: boolean;
}) {
  const { call, title = msg.theCallBehindThisView, fid, more = [], canEdit = true } = props;
  const snippets = [...snippetsOf(call, { ...site, fid }), ...more];
  const [name] = useState(() => `call${counter++}`);
  const [language, setLanguage] = useState<string>();
  const selected = snippets.find((snippet) => snippet.language === language) ?? snippets[0];
  if (!selected) return null;
  return (
    <section class="api" aria-label={title} data-call>
      <header>
        <Icon name="code" />
        <span class="grow">{title}</span>
        <Measured path={call.path} />
        {canEdit && call.path.startsWith("/v2/") && (
          <a class="btn" href={editPage(call)}>
            {msg.edit}
          </a>
        )}
      </header>
      <div class="row languages">
        <div class="grow">
          <Tabs
            label={msg.language}
            name={name}
            tabClass=""
            tabs={snippets.map((snippet) => ({ id: snippet.language, label: snippet.language }))}
            selected={selected.language}
            onSelect={setLanguage}
          />
        </div>
        <CopyButton text={selected.text} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so a keyboard must reach it */}
      <pre {...tabPanelProps(name, selected.language)} tabIndex={0}>
        <Highlighted text={selected.text} />
      </pre>
    </section>
  );
}
