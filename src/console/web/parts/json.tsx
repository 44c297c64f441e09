import { useState } from "preact/hooks";
import { CopyButton } from "./copy-button.tsx";

const MAX_CHARS = 16_384;

/** A value as JSON, cut after 16 KB; "Copy all" has the whole. */
export function Json({ value, label = "JSON" }: { value: unknown; label?: string }) {
  return <RawText text={JSON.stringify(value, null, 2)} label={label} />;
}

/** Foreign text as it arrived: JSON, an answer of a receiver, a line of a log. Cut after 16 KB; "Copy all" has the whole. */
export function RawText({ text, label }: { text: string; label: string }) {
  const [isWhole, setWhole] = useState(false);
  const isCut = text.length > MAX_CHARS && !isWhole;
  return (
    <div class="raw">
      <div class="row">
        {isCut && (
          <button type="button" class="btn quiet" onClick={() => setWhole(true)}>
            Show all {Math.ceil(text.length / 1024)} KB
          </button>
        )}
        <CopyButton text={text} label={text.length > MAX_CHARS ? "Copy all" : "Copy"} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so a keyboard must reach it */}
      <section aria-label={label} tabIndex={0}>
        <pre>{isCut ? `${text.slice(0, MAX_CHARS)}…` : text}</pre>
      </section>
    </div>
  );
}
