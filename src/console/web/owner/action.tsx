import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { RequestFailure } from "../data/request.ts";
import { FailureBox } from "../parts/region.tsx";
import { OperationDeclined, type OwnerOperation, runOperation } from "./operation.ts";

/**
 * The state of a form's or card's buttons: whether something is in progress, and how the last action ended. Meanwhile the buttons are
 * `aria-disabled`, because a disabled button loses the focus.
 */
export interface Action {
  readonly isBusy: boolean;
  /** Why the node refused. */
  readonly failure: RequestFailure | undefined;
  /** A sentence: what was done, or why nothing was sent. */
  readonly note: string | undefined;
  /** Runs `work` unless something is in progress, and shows the sentence to which it resolves. */
  run(work: () => Promise<string | undefined>): Promise<void>;
  /** Runs one operation. Resolves to the response; undefined if the owner declined or the node refused. */
  operate<T>(operation: OwnerOperation<T>): Promise<T | undefined>;
}

export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const isUnderWay = useRef(false);
  const [failure, setFailure] = useState<RequestFailure>();
  const [note, setNote] = useState<string>();
  async function run(work: () => Promise<string | undefined>) {
    if (isUnderWay.current) return;
    isUnderWay.current = true;
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
      isUnderWay.current = false;
      setBusy(false);
    }
  }
  async function operate<T>(operation: OwnerOperation<T>) {
    let response: T | undefined;
    await run(async () => {
      response = await runOperation(operation);
      return undefined;
    });
    return response;
  }
  return { isBusy, failure, note, run, operate };
}

/** How the last action ended. */
export function Outcome({ action: { failure, note } }: { action: Pick<Action, "failure" | "note"> }) {
  if (failure) return <FailureBox failure={failure} />;
  if (note === undefined) return null;
  return (
    <p class="s done" role="status">
      {note}
    </p>
  );
}

export function ActionButton(props: {
  action: Action;
  kind?: "" | "go" | "bad";
  onClick: () => unknown;
  children: ComponentChildren;
}) {
  const { action, kind = "", onClick, children } = props;
  return (
    <button
      type="button"
      class={`btn ${kind}`}
      aria-disabled={action.isBusy}
      onClick={() => {
        if (!action.isBusy) void onClick();
      }}
    >
      {children}
    </button>
  );
}
