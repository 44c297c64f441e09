import { effect, signal, untracked } from "@preact/signals";

/** Whether the tab is visible. While it is not, nothing polls and no stream is open. */
export const isVisible = signal(document.visibilityState === "visible");
document.addEventListener("visibilitychange", () => {
  isVisible.value = document.visibilityState === "visible";
});

/**
 * Calls `run` every `everyMs` while the tab is visible, and at once when it becomes visible after a longer time. Returns a function that
 * stops this.
 */
function whileVisible(everyMs: number, run: () => void): () => void {
  let lastAt = performance.now();
  const call = () => {
    lastAt = performance.now();
    untracked(run);
  };
  return effect(() => {
    if (!isVisible.value) return;
    if (performance.now() - lastAt >= everyMs) call();
    const timer = setInterval(call, everyMs);
    return () => clearInterval(timer);
  });
}

const TICK_MS = 5000;

/** The time that ages on the page refer to, in ms; updated while the tab is visible. */
export const nowMs = signal(Date.now());
whileVisible(TICK_MS, () => {
  nowMs.value = Date.now();
});
