import { AddDemoPeople } from "../../demo/add-people.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { ReachNote } from "../../parts/reach-note.tsx";
import { tokenWebhookUrl } from "./app.ts";

/** What the app's manifest must say, so that clients report who added it. */
export function ManifestCard({ appId, onAdded }: { appId: string; onAdded: () => void }) {
  const line = `"webhookUrl": "${tokenWebhookUrl(appId)}"`;
  return (
    <section class="card" aria-labelledby="manifest">
      <header>
        <h2 class="grow" id="manifest">
          In your manifest
        </h2>
        <CopyButton text={line} />
      </header>
      <div class="pad stack">
        <p>
          Add this line to the <code>miniapp</code> object of <code>/.well-known/farcaster.json</code> on your
          site. Clients then tell this node who added the app.
        </p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so a keyboard must reach it */}
        <pre class="box" tabIndex={0}>
          {line}
        </pre>
        <ReachNote url={tokenWebhookUrl(appId)} others="Clients" />
        <AddDemoPeople appId={appId} onAdded={onAdded} />
      </div>
    </section>
  );
}
