import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import * as msg from "../text/en/common.ts";
import { reachOf } from "../text/link.ts";

const SHOWN_MS = 4000;
const message = signal("");
let timer: ReturnType<typeof setTimeout> | undefined;

/** Says a short sentence once, on the screen and to a screen reader. */
export function announce(text: string): void {
  clearTimeout(timer);
  message.value = text;
  timer = setTimeout(() => {
    message.value = "";
  }, SHOWN_MS);
}

/** Where announcements appear; once in the page. */
export function Announcer() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {message.value !== "" && <span>{message.value}</span>}
    </div>
  );
}

const COPIED_MS = 1600;

/** Copies through a selection, which browsers allow without a clipboard, too. Returns whether they did. */
function copySelected(text: string, button: HTMLElement): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "skip";
  // Beside the button, because a modal dialog takes the focus from everything outside of it.
  button.after(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  button.focus();
  return isCopied;
}

async function copyText(text: string, button: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // There is none on a page over plain http, and the visitor may refuse it.
    return copySelected(text, button);
  }
}

/** Copies the text as it is shown. Where the browser does not allow that, it says so. */
export function CopyButton(props: {
  text: string;
  label?: ComponentChildren;
  /** What is read out where the label is a sign. */
  name?: string;
  quiet?: boolean;
}) {
  const { text, label = msg.copy, name, quiet = true } = props;
  const [note, setNote] = useState<string>();
  async function copy({ currentTarget }: { currentTarget: HTMLElement }) {
    const isCopied = await copyText(text, currentTarget);
    setNote(isCopied ? msg.copied : msg.notCopied);
    announce(isCopied ? msg.copied : msg.theBrowserBlockedCopyingSelectThe);
    setTimeout(() => setNote(undefined), COPIED_MS);
  }
  return (
    <button
      type="button"
      class={quiet ? "btn quiet" : "btn"}
      data-copy
      aria-label={name}
      title={name}
      onClick={copy}
    >
      {note ?? label}
    </button>
  );
}

/** A command to copy. A line breaks between its words. */
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

/** A value as JSON, cut after 16 KB; "Copy all" has the whole. */
export function Json({ value, label = msg.json }: { value: unknown; label?: string }) {
  return <RawText text={JSON.stringify(value, null, 2)} label={label} />;
}

/** Foreign text as it arrived: JSON, a receiver's response, a line of a log. Cut after 16 KB; "Copy all" has the whole. */
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
        <CopyButton text={text} label={text.length > MAX_CHARS ? msg.copyAll : msg.copy} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so a keyboard must reach it */}
      <section aria-label={label} tabIndex={0}>
        <pre>{isCut ? `${text.slice(0, MAX_CHARS)}…` : text}</pre>
      </section>
    </div>
  );
}

const WHO = { machine: msg.thisMachine, network: msg.machinesInTheSameNetwork } as const;

/** Says that others cannot open a URL of this node, where that is so. `others` is who would have to, as in `Clients`. */
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
