import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import type { Call } from "../data/call.ts";
import { type SnippetLanguage, snippetsOf } from "../data/snippets.ts";
import { Icon } from "../icons/icons.tsx";
import { nodeOrigin, pageConfig } from "../page-config.ts";
import * as msg from "../text/en/common.ts";
import { formatBytes, formatDuration } from "../text/format.ts";
import { CopyButton } from "./copy.tsx";
import { Tabs, tabPanelProps } from "./page-head.tsx";

/** How long a request took, and the size of its decoded body. */
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

/** What the browser measured of the last request of a path with its query. */
const timingOf = (path: string): RequestTiming | undefined => timings.value.get(path);

const TOKENS = /('(?:[^']|'\\'')*'|"(?:[^"\\]|\\.)*")|\b(curl|svc|await|const|import|from|new|process)\b/g;

/** The snippet with its strings and words marked; text nodes only. */
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
const site = { origin: nodeOrigin, service, domain, headerPrefix, needsApiKey: !anonymous };
let counter = 0;

/** The call that made a view, to be copied: for the shell, for TypeScript, for the hosted API's SDK. */
export function CallPanel(props: {
  call: Call;
  title?: string;
  /** Who signs the call. */
  fid?: number;
}) {
  const { call, title = msg.theCallBehindThisView, fid } = props;
  const snippets = snippetsOf(call, { ...site, fid });
  const [name] = useState(() => `call${counter++}`);
  const [language, setLanguage] = useState<SnippetLanguage>();
  const selected = snippets.find((snippet) => snippet.language === language) ?? snippets[0];
  if (!selected) return null;
  return (
    <section class="api" aria-label={title} data-call>
      <header>
        <Icon name="code" />
        <span class="grow">{title}</span>
        <Measured path={call.path} />
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
