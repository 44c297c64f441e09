import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../icons/icons.tsx";
import * as msg from "../text/en/common.ts";
import { focusHeading } from "./page-head.tsx";

/** The input that a dialog focuses first. A button is never focused first, because a held Enter would press it. */
const TYPED = "input:is([type=text], [type=search], [type=number], [type=password])";

const RETURN_MS = 100;
const MAX_RETURNS = 50;

/**
 * Returns the focus to the element that had it before a dialog. This element may be disabled while its action runs; if it no longer
 * exists, the heading of the page gets the focus.
 */
function returnFocus(before: HTMLElement, tries = MAX_RETURNS): void {
  if (document.activeElement !== document.body) return;
  before.focus();
  if (document.activeElement !== document.body) return;
  if (before !== document.body && before.isConnected && tries > 0)
    setTimeout(() => returnFocus(before, tries - 1), RETURN_MS);
  else focusHeading();
}

/** A modal dialog while it is rendered. Escape, the cross and a click outside call `onClose`. */
export function Dialog(props: { title: string; onClose: () => void; children: ComponentChildren }) {
  const { title, onClose, children } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    const opened = dialog.current;
    opened?.showModal();
    opened?.querySelector<HTMLElement>(TYPED)?.focus();
    return () => {
      const { activeElement } = document;
      // The result of the dialog's action may already have taken the focus.
      const isTaken = activeElement !== document.body && !opened?.contains(activeElement);
      if (isTaken || !(before instanceof HTMLElement)) return;
      before.focus();
      // A dialog below this one returns the focus itself.
      if (!before.closest("dialog")) setTimeout(() => returnFocus(before));
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard closes it by Escape
    <dialog
      ref={dialog}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <header>
        <h2 class="grow">{title}</h2>
        <button type="button" class="btn quiet" aria-label={msg.close} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div class="pad">{children}</div>
    </dialog>
  );
}
