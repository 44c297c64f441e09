import { StateUnavailable } from "../../../src/db/state/unavailable.ts";

const TURNS = 3;

/** Whether a call is refused without waiting for anything: within a few turns of the event loop, however busy the machine is. */
export async function isRefusedAtOnce(call: Promise<unknown>): Promise<boolean> {
  let cause: unknown;
  call.catch((reason) => {
    cause = reason;
  });
  for (let turn = 0; turn < TURNS && cause === undefined; turn++)
    await new Promise<void>((resolve) => setImmediate(resolve));
  return cause instanceof StateUnavailable;
}
