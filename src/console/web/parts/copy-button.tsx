import { useState } from "preact/hooks";
import { announce } from "./announcer.tsx";

const COPIED_MS = 1600;

/** Copies the text as it is shown. Without a clipboard (plain http) it selects nothing and says so. */
export function CopyButton({
  text,
  label = "Copy",
  quiet = true,
}: {
  text: string;
  label?: string;
  quiet?: boolean;
}) {
  const [copied, setCopied] = useState(false);
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      announce("Copied");
      setTimeout(() => setCopied(false), COPIED_MS);
    } catch {
      announce("The browser did not allow to copy. Select the text instead.");
    }
  }
  return (
    <button type="button" class={quiet ? "btn quiet" : "btn"} data-copy onClick={copy}>
      {copied ? "Copied" : label}
    </button>
  );
}
