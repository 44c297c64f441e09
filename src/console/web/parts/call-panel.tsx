import { useState } from "preact/hooks";
import type { Call } from "../data/call.ts";
import { formatBytes, formatDuration } from "../data/format.ts";
import { type SnippetLanguage, snippetsOf } from "../data/snippets.ts";
import { timingOf } from "../data/timing.ts";
import { Icon } from "../icons.tsx";
import { nodeOrigin, pageConfig } from "../page-config.ts";
import { CopyButton } from "./copy-button.tsx";
import { Tabs, tabPanelProps } from "./tabs.tsx";

const TOKENS = /('(?:[^']|'\\'')*'|"(?:[^"\\]|\\.)*")|\b(curl|svc|await|const|import|from|new|process)\b/g;

/** The snippet with its strings and words marked; text nodes alone. */
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
export function CallPanel({ call, title = "The call behind this view" }: { call: Call; title?: string }) {
  const snippets = snippetsOf(call, site);
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
            label="Language"
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
