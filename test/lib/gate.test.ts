import { expect, test } from "bun:test";
import { createGate, OPEN_GATE } from "../../src/runtime/gate.ts";

test("all waits end when the gate opens, and one that is cancelled ends by itself", async () => {
  let isOpen = false;
  const gate = createGate(() => isOpen);
  const abort = new AbortController();
  const cancelled = gate.opened(abort.signal);
  const waiting = Promise.all([gate.opened(), gate.opened()]);
  abort.abort(new Error("enough"));
  await expect(cancelled).rejects.toThrow();
  await expect(gate.opened(abort.signal)).rejects.toThrow();
  isOpen = true;
  await waiting;
  await gate.opened();
  await OPEN_GATE.opened(abort.signal);
});
