import { CopyButton } from "../../parts/copy-button.tsx";
import { focusHeading } from "../../parts/page-head.tsx";

/** The text of a key or a secret, while the page has it: nothing stores it. */
export function SecretOnce({ secret, onDone }: { secret: string; onDone: () => void }) {
  function finish() {
    focusHeading();
    onDone();
  }
  return (
    <section class="card" aria-labelledby="secret-once">
      <header>
        <h2 class="grow" id="secret-once">
          Copy it now
        </h2>
      </header>
      <div class="pad stack">
        <p>This is the text of the key. The node keeps a digest alone, so nobody can show it again.</p>
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
