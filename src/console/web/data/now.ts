import { signal } from "@preact/signals";
import { whileVisible } from "./visibility.ts";

const TICK_MS = 5000;

/** The time that ages on the page refer to, in ms; moves while the tab is shown. */
export const nowMs = signal(Date.now());
whileVisible(TICK_MS, () => {
  nowMs.value = Date.now();
});
