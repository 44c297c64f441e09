import { useState } from "preact/hooks";
import * as msg from "../text/en/parts.ts";
import { reachOf } from "../text/reach.ts";
import { CopyButton } from "./copy.tsx";

/** A command to copy. Lines break only between words. */
export function Command({ text }: { text: string }) {
  return (
    <div class="api row command">
      <pre class="grow words">
        {text.split(" ").map((word, at) => (
          <>
            {at > 0 && " "}
            <span key={at}>{word}</span>
          </>
        ))}
      </pre>
      <CopyButton text={text} />
    </div>
  );
}

const MAX_CHARS = 16_384;

/** A value as JSON, truncated after 16 KB; "Copy all" copies all of it. */
export function Json({ value, label = msg.json }: { value: unknown; label?: string }) {
  return <RawText text={JSON.stringify(value, null, 2)} label={label} />;
}

/** Foreign text as it arrived: JSON, a receiver's response, a log line. Truncated after 16 KB; "Copy all" copies all of it. */
export function RawText({ text, label }: { text: string; label: string }) {
  const [isWhole, setWhole] = useState(false);
  const isCut = text.length > MAX_CHARS && !isWhole;
  return (
    <div class="raw">
      <div class="row">
        {isCut && (
          <button type="button" class="btn quiet" onClick={() => setWhole(true)}>
            {msg.showAllKb(Math.ceil(text.length / 1024))}
          </button>
        )}
        <CopyButton text={text} label={text.length > MAX_CHARS ? msg.copyAll : undefined} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so a keyboard must reach it */}
      <section aria-label={label} tabIndex={0}>
        <pre>{isCut ? `${text.slice(0, MAX_CHARS)}…` : text}</pre>
      </section>
    </div>
  );
}

const WHO = { machine: msg.thisMachine, network: msg.machinesInTheSameNetwork } as const;

/** Warns if others cannot open a URL of this node. `others` are those who would need to, such as `Clients`. */
export function ReachNote({ url, others }: { url: string; others: string }) {
  const reach = reachOf(url);
  if (reach === "everywhere") return null;
  return (
    <p class="s notice boxed" data-reach={reach}>
      <span>
        {msg.onlyCanOpenItToChange(
          <b>{msg.cannotReachThisUrlFromOutside(others)}</b>,
          WHO[reach],
          <code>service.public_url</code>,
        )}
      </span>
    </p>
  );
}
