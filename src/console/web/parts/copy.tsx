import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import * as msg from "../text/en/common.ts";

const SHOWN_MS = 4000;
const message = signal("");
let timer: ReturnType<typeof setTimeout> | undefined;

/** Announces a short sentence once, on the screen and to screen readers. */
export function announce(text: string): void {
  clearTimeout(timer);
  message.value = text;
  timer = setTimeout(() => {
    message.value = "";
  }, SHOWN_MS);
}

/** The place where announcements appear; only one per page. */
export function Announcer() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {message.value !== "" && <span>{message.value}</span>}
    </div>
  );
}

const COPIED_MS = 1600;

/** Copies through a selection, which browsers allow even without a clipboard. Returns whether it worked. */
function copySelected(text: string, button: HTMLElement): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "skip";
  // Next to the button, because a modal dialog takes the focus from everything outside of it.
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
    // A page over plain http has no clipboard, and the visitor may deny access.
    return copySelected(text, button);
  }
}

/** Copies the text as shown, and says so if the browser does not allow that. */
export function CopyButton(props: {
  text: string;
  label?: ComponentChildren;
  /** The accessible name if the label is a symbol. */
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
