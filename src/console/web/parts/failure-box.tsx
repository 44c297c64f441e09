import { useEffect, useState } from "preact/hooks";
import type { RequestFailure } from "../data/request.ts";

const TICK_MS = 1000;

/** Seconds until the node wants to be asked again; 0 when now. */
function useCountdown(failure: RequestFailure): number {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    const endMs = performance.now() + (failure.retryAfterMs ?? 0);
    const tick = () => setLeft(Math.max(0, Math.ceil((endMs - performance.now()) / TICK_MS)));
    tick();
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, [failure]);
  return left;
}

/** A failure in the region that it concerns: what the node said, which request it was, and the way on. */
export function FailureBox({ failure, retry }: { failure: RequestFailure; retry?: () => void }) {
  const left = useCountdown(failure);
  // Nothing went wrong: the operator has it off.
  if (failure.status === 501)
    return (
      <p class="empty" role="status">
        <b>Not on this node:</b> {failure.message}
      </p>
    );
  return (
    <div class="failure" role="alert">
      <p>
        <b>{failure.status === 0 ? "No answer:" : failure.status}</b> {failure.message}
      </p>
      {failure.requestId !== undefined && <p class="xs mono dim">request {failure.requestId}</p>}
      {retry && (
        <p>
          <button type="button" class="btn" aria-disabled={left > 0} onClick={left > 0 ? undefined : retry}>
            {left > 0 ? `Try again in ${left} s` : "Try again"}
          </button>
        </p>
      )}
    </div>
  );
}
