import { useState } from "preact/hooks";
import { announce } from "./announcer.tsx";

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
export function CopyButton({
  text,
  label = "Copy",
  quiet = true,
}: {
  text: string;
  label?: string;
  quiet?: boolean;
}) {
  const [note, setNote] = useState<string>();
  async function copy({ currentTarget }: { currentTarget: HTMLElement }) {
    const isCopied = await copyText(text, currentTarget);
    setNote(isCopied ? "Copied" : "Not copied");
    announce(isCopied ? "Copied" : "The browser did not allow to copy. Select the text instead.");
    setTimeout(() => setNote(undefined), COPIED_MS);
  }
  return (
    <button type="button" class={quiet ? "btn quiet" : "btn"} data-copy onClick={copy}>
      {note ?? label}
    </button>
  );
}
