import { nodeOrigin, pageConfig } from "../page-config.ts";
import { Command } from "../parts/command.tsx";

const { service, demo } = pageConfig;

/** What people do whose custody address is not in a wallet of this browser. */
export function OtherWays() {
  const command = `${service} app list --url ${nodeOrigin} --fid 3 --key-file custody.key`;
  return (
    <section class="card">
      <header>
        <h2>Without a wallet here</h2>
      </header>
      <div class="pad stack">
        <div>
          <h3>Try it as somebody else</h3>
          {demo ? (
            <p>
              This node is a demo network: “A demo person’s wallet” in the list lends you one of its people,
              and everything here works for you, too.
            </p>
          ) : (
            <p>
              A node started with <code>{service} serve --demo</code> lends you the wallets of made-up people,
              so that you can try all of this in two minutes.
            </p>
          )}
        </div>
        <div class="stack tight">
          <h3>Use the command line where your key is</h3>
          <p>Everything here is a command as well. It signs with a key file on your own machine:</p>
          <Command text={command} />
        </div>
        <details>
          <summary>My custody address is inside a Farcaster app</summary>
          <p>
            Most apps make the custody address for you and show its recovery phrase in their settings, under a
            name such as “recovery phrase” or “advanced”. A wallet that imports this phrase has your custody
            address from then on. Whoever has the phrase owns your fid: import it into a wallet that you
            trust, and never into a web page.
          </p>
        </details>
      </div>
    </section>
  );
}
