import { err, ok, type Result } from "../../lib/result.ts";
import type { SetUp, SetUpState, SetUpStep, SetUpWish } from "../setup/set-up.ts";
import { type OperatorRefusal, refuse } from "./operator-sessions.ts";

/** Runs one step at a time, in the main thread. `apply` works only once. */
export interface SetUpRuns {
  startSetUp(step: SetUpStep, wish: SetUpWish): Result<null, OperatorRefusal>;
  setUpState(): SetUpState;
}

/** @param isEmpty returns whether the node still has no data */
export function createSetUpRuns(
  setUp: SetUp | undefined,
  isEmpty: () => boolean,
  reasonOf: (cause: unknown) => string,
): SetUpRuns {
  let last: Omit<SetUpState, "is_open"> = { step: null, is_running: false, result: null, error: null };
  let isApplied = false;
  const isOpen = () => setUp !== undefined && !isApplied && isEmpty();
  const run = async (steps: SetUp, step: SetUpStep, wish: SetUpWish) => {
    const ended = { step, is_running: false, result: null, error: null };
    try {
      last = { ...ended, result: await steps[step](wish) };
    } catch (cause) {
      if (step === "apply") isApplied = false;
      last = { ...ended, error: reasonOf(cause) };
    }
  };
  return {
    startSetUp(step, wish) {
      if (!setUp || !isOpen()) return err({ kind: "conflict", message: "this node is set up already" });
      if (last.is_running) return refuse("tooManyRequests", "another step of the set-up is under way", 1);
      last = { step, is_running: true, result: null, error: null };
      if (step === "apply") isApplied = true;
      void run(setUp, step, wish);
      return ok(null);
    },
    setUpState: () => ({ is_open: isOpen(), ...last }),
  };
}
