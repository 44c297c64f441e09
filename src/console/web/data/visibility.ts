import { effect, signal, untracked } from "@preact/signals";

/** Whether the tab is shown. Nothing polls and no stream is open while it is not. */
export const isVisible = signal(document.visibilityState === "visible");
document.addEventListener("visibilitychange", () => {
  isVisible.value = document.visibilityState === "visible";
});

/** Calls `run` each `everyMs` while the tab is shown, and at once when it is shown again after a longer time. Returns the stop. */
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

/** The time that ages on the page refer to, in ms; moves while the tab is shown. */
export const nowMs = signal(Date.now());
whileVisible(TICK_MS, () => {
  nowMs.value = Date.now();
});
