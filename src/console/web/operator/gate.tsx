import { type ComponentChildren, Fragment } from "preact";
import { useEffect } from "preact/hooks";
import { nodeOrigin, pageConfig } from "../page-config.ts";
import { type Crumb, PageHead } from "../parts/page-head.tsx";
import { Command } from "../parts/raw-text.tsx";
import { Skeleton } from "../parts/region.tsx";
import * as msg from "../text/en/status.ts";
import { access, enter, lock, lockedAfter, lockedBecause } from "./session.ts";

const PORT = location.port === "" ? "80" : location.port;
const COMMAND = `${pageConfig.service} console`;

/** Explains how to open the page. */
function Locked({ isUnable }: { isUnable: boolean }) {
  const failure = lockedBecause.value;
  return (
    <section class="card">
      <div class="pad stack measure">
        <h2>{msg.thisPageIsLocked}</h2>
        {lockedAfter.value === "restart" ? (
          <p role="status">{msg.theNodeHasStartedAgain}</p>
        ) : (
          failure && (
            <div class="failure" role="alert">
              <p>
                <b>{lockedAfter.value === "session" ? msg.yourSessionIsOver : msg.itDidNotOpen}</b>{" "}
                {failure.message}.
              </p>
            </div>
          )
        )}
        {isUnable ? (
          <p>
            {msg.yourBrowserSignsRequestsOnlyOn(
              <code>{`ssh -L ${PORT}:localhost:${PORT} ${location.hostname}`}</code>,
              <code>{`http://localhost:${PORT}/console/operator`}</code>,
            )}
          </p>
        ) : (
          <>
            <p>{msg.thisPageShowsTheOperatorThe(<code>--config</code>, <code>--data-dir</code>)}</p>
            <Command text={COMMAND} />
            <p>{msg.fromAnotherMachineWithSetOn(<code>console.operator_token</code>)}</p>
            <Command text={`${COMMAND} ${nodeOrigin}`} />
            <p class="s dim">{msg.theLinkIsValidForA}</p>
          </>
        )}
        <p class="s">{msg.isPublic(<a href="/console/status">{msg.theStatusOfTheNode}</a>)}</p>
      </div>
    </section>
  );
}

/** A page of the operator, opened by the link that the command prints. */
export function OperatorGate(props: {
  title: string;
  crumbs: readonly Crumb[];
  /** Shown next to the title of an open page. */
  head?: ComponentChildren;
  children: (mayChange: boolean) => ComponentChildren;
}) {
  const { title, crumbs, head, children } = props;
  const now = access.value;
  useEffect(() => {
    const take = () => void enter();
    take();
    // If a link is opened in the tab of this page, only the fragment changes.
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);
  const isShown = now === "open" || now === "reading";
  return (
    <>
      <PageHead title={title} crumbs={crumbs}>
        {isShown && head}
        {now === "open" && (
          <button type="button" class="btn" onClick={() => void lock()}>
            {msg.lock}
          </button>
        )}
      </PageHead>
      {now === "reading" && (
        <div class="notice boxed">
          <p>{msg.thisIsADemoNetworkSo(<code>{pageConfig.service} console</code>)}</p>
        </div>
      )}
      {now === "asking" && <Skeleton rows={3} height={8} />}
      {isShown && <Fragment key={now}>{children(now === "open")}</Fragment>}
      {(now === "locked" || now === "unable") && <Locked isUnable={now === "unable"} />}
    </>
  );
}
