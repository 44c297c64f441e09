import { signal } from "@preact/signals";

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
