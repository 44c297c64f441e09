import { useState } from "preact/hooks";
import { RequestFailure } from "../data/request.ts";
import { OperationDeclined, type OwnerOperation, runOperation } from "../owner/operation.ts";
import { FailureBox } from "../parts/failure-box.tsx";

/** The operations of one form, and why the last one did not succeed. */
export interface OperationState {
  readonly isBusy: boolean;
  readonly problem: RequestFailure | string | undefined;
  /** Resolves with the response; undefined when the owner declined or the node refused. */
  run<T>(operation: OwnerOperation): Promise<T | undefined>;
}

export function useOperations(): OperationState {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<RequestFailure | string>();
  return {
    isBusy,
    problem,
    async run<T>(operation: OwnerOperation) {
      setBusy(true);
      setProblem(undefined);
      try {
        return await runOperation<T>(operation);
      } catch (cause) {
        if (cause instanceof RequestFailure) setProblem(cause);
        else if (cause instanceof OperationDeclined) setProblem(cause.message);
        else throw cause;
        return undefined;
      } finally {
        setBusy(false);
      }
    },
  };
}

/** Why the last operation of a form did not succeed. */
export function OperationProblem({ problem }: Pick<OperationState, "problem">) {
  if (problem === undefined) return null;
  if (problem instanceof RequestFailure) return <FailureBox failure={problem} />;
  return (
    <p class="failure" role="alert">
      {problem}
    </p>
  );
}
