import { CopyButton } from "../../parts/copy-button.tsx";

/** A send secret that the node has just shown. It is in memory alone: leaving the page forgets it. */
export function NewSecret({ secret }: { secret: string | undefined }) {
  if (secret === undefined) return null;
  return (
    <section class="card" aria-labelledby="new-secret">
      <header>
        <h2 class="grow" id="new-secret">
          Send secret
        </h2>
        <CopyButton text={secret} quiet={false} />
      </header>
      <div class="pad stack">
        <p>
          Copy it now. This page forgets it when you leave; seeing it again costs one signature. A server of
          yours sends with it, in the header <code>x-api-key</code>. From here you send without it.
        </p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so a keyboard must reach it */}
        <pre class="box" data-secret tabIndex={0}>
          {secret}
        </pre>
      </div>
    </section>
  );
}
