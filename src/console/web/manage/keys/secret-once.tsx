import { CopyButton } from "../../parts/copy-button.tsx";
import { focusHeading, ResultHeading } from "../../parts/page-head.tsx";

/** The text of a key or a secret, while the page has it: nothing stores it. */
export function SecretOnce({ secret, onDone }: { secret: string; onDone: () => void }) {
  function finish() {
    focusHeading();
    onDone();
  }
  return (
    <section class="card" aria-labelledby="secret-once">
      <header>
        <ResultHeading id="secret-once">Copy the key now</ResultHeading>
      </header>
      <div class="pad stack">
        <p>The node stores only a digest of the key, so it cannot show the key again.</p>
        <div class="row wrap">
          <code class="grow user" data-secret>
            {secret}
          </code>
          <CopyButton text={secret} quiet={false} />
        </div>
        <p>
          <button type="button" class="btn" onClick={finish}>
            I have stored it
          </button>
        </p>
      </div>
    </section>
  );
}
