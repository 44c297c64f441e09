import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { RequestFailure } from "../data/request.ts";
import { FailureBox } from "../parts/failure-box.tsx";
import { focusHeading } from "../parts/page-head.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { ConnectPanel } from "./connect-panel.tsx";
import { attachWallet, walletNote } from "./connection.ts";
import { hasSessionEnded, isOwnerKnown, noSessionReason, type Owner, owner, restoreOwner } from "./owner.ts";
import { startSession } from "./session.ts";

/** Offers a session to an owner without one. The page below stays as it is. */
function SessionOffer() {
  const [canOperate, setCanOperate] = useState(true);
  const [failure, setFailure] = useState<Error>();
  const [isBusy, setBusy] = useState(false);
  const reason = noSessionReason();
  if (reason !== undefined)
    return (
      <p class="card pad" role="status">
        {reason} So each request asks your wallet.
      </p>
    );
  async function start() {
    if (isBusy) return;
    setBusy(true);
    setFailure(undefined);
    try {
      await startSession(canOperate ? "operate" : "read");
      focusHeading();
    } catch (cause) {
      setFailure(cause instanceof Error ? cause : new Error(String(cause)));
    } finally {
      setBusy(false);
    }
  }
  return (
    <section class="card" aria-labelledby="session-offer">
      <header>
        <h2 class="grow" id="session-offer">
          {hasSessionEnded.value ? "Your session has ended" : "One signature, then quiet"}
        </h2>
      </header>
      <div class="pad stack">
        <p class="measure">
          Your wallet signs once for a key of this browser. With it these pages show what is yours without
          asking your wallet each time, for some hours. It never sees the text of a secret. Whatever creates,
          sends, deletes or reveals still asks your wallet.
        </p>
        <div class="checks">
          <label>
            <input
              type="checkbox"
              checked={canOperate}
              onChange={({ currentTarget }) => setCanOperate(currentTarget.checked)}
            />
            It may also test webhooks, replay deliveries and switch webhooks on and off
          </label>
        </div>
        <div class="row wrap">
          <button type="button" class="btn go" aria-disabled={isBusy} onClick={() => void start()}>
            {hasSessionEnded.value ? "Start a session again" : "Start a session"}
          </button>
          <span class="s dim">One prompt of your wallet.</span>
        </div>
        {failure instanceof RequestFailure && <FailureBox failure={failure} retry={() => void start()} />}
        {failure && !(failure instanceof RequestFailure) && (
          <p class="failure" role="alert">
            {failure.message}
          </p>
        )}
      </div>
    </section>
  );
}

/**
 * Shows its children to a connected owner, and the way to connect to other visitors. Without a session it offers one above
 * them; they stay mounted when a session ends, so that no form loses its text.
 */
export function OwnerOnly({ children }: { children: (current: Owner) => ComponentChildren }) {
  useEffect(() => void restoreOwner().then(attachWallet), []);
  const current = owner.value;
  if (!current) return isOwnerKnown.value ? <ConnectPanel /> : <Skeleton />;
  return (
    <div class="stack" key={current.fid}>
      {walletNote.value && (
        <p class="card pad" role="status">
          {walletNote.value}
        </p>
      )}
      {!current.session && <SessionOffer />}
      {children(current)}
    </div>
  );
}
