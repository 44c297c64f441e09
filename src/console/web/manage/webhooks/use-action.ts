import { useState } from "preact/hooks";
import { RequestFailure } from "../../data/request.ts";
import { OperationDeclined } from "../../owner/operation.ts";

/** An action of a button: what became of the last one, and whether one is under way. */
export interface Action {
  readonly isBusy: boolean;
  readonly failure: RequestFailure | undefined;
  /** A sentence: what was done, or why nothing was sent. */
  readonly note: string | undefined;
  /** Does it; the sentence that `work` resolves with is shown. */
  run(work: () => Promise<string | undefined>): Promise<void>;
}

export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<RequestFailure>();
  const [note, setNote] = useState<string>();
  async function run(work: () => Promise<string | undefined>) {
    setBusy(true);
    setFailure(undefined);
    setNote(undefined);
    try {
      setNote(await work());
    } catch (cause) {
      if (cause instanceof RequestFailure) setFailure(cause);
      else if (cause instanceof OperationDeclined) setNote(cause.message);
      else throw cause;
    } finally {
      setBusy(false);
    }
  }
  return { isBusy, failure, note, run };
}
