import { nodeOrigin, pageConfig } from "../page-config.ts";
import { Command } from "../parts/command.tsx";
import { lockedBecause } from "./session.ts";

const PORT = location.port === "" ? "80" : location.port;
const COMMAND = `${pageConfig.service} console`;

/** Says how the page is opened. */
export function Locked({ isUnable }: { isUnable: boolean }) {
  const failure = lockedBecause.value;
  return (
    <section class="card">
      <div class="pad stack measure">
        <h2>This page is locked</h2>
        {failure && (
          <div class="failure" role="alert">
            <p>
              <b>It did not open.</b> {failure.message}.
            </p>
          </div>
        )}
        {isUnable ? (
          <p>
            Your browser signs requests only on https or on the machine itself. Open this node by its https
            address, or through a tunnel:{" "}
            <code>{`ssh -L ${PORT}:localhost:${PORT} ${location.hostname}`}</code>, then{" "}
            <code>{`http://localhost:${PORT}/console/operator`}</code>.
          </p>
        ) : (
          <>
            <p>
              It shows the threads, the log, the settings and the backups of this node to the one who runs it.
              On the machine of the node, as the user that runs it and with its settings (
              <code>--config</code> or <code>--data-dir</code>), this prints a link that opens it once:
            </p>
            <Command text={COMMAND} />
            <p>
              From another machine, with <code>console.operator_token</code> set on both:
            </p>
            <Command text={`${COMMAND} ${nodeOrigin}`} />
            <p class="s dim">
              The link is valid for a minute, the session for 12 hours or until the node restarts. With
              several nodes behind one address, open the address of the node itself: a session belongs to one
              of them.
            </p>
          </>
        )}
        <p class="s">
          <a href="/console/status">The status of the node</a> is open to everybody.
        </p>
      </div>
    </section>
  );
}
