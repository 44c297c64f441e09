/** What the drop-in login page says before its script runs. */
export interface LoginPage {
  readonly base: string;
  readonly name: string;
  readonly host: string;
  readonly owner: string;
  readonly mayWrite: boolean;
  /** The origins of the app, for the result. */
  readonly origins: readonly string[];
  /** The type of the message that asks the opener who it is. */
  readonly readyType: string;
  readonly isDemo: boolean;
}

export function loginContent({
  base,
  name,
  host,
  owner,
  mayWrite,
  origins,
  readyType,
  isDemo,
}: LoginPage): string {
  const asks = mayWrite
    ? "<p>It learns who you are, and asks for a key to publish, like and follow in your name. You can remove the key at any time.</p>"
    : "<p>It learns who you are. It gets no key and can publish nothing.</p>";
  return `<h1>Sign in</h1>
    <div class="card">
      <section class="pad stack sign-in-to">
        <h2><bdi class="user">${text(name)}</bdi></h2>
        <p class="s dim"><bdi class="user">${text(host)}</bdi> &middot; registered here by <bdi class="user">${text(owner)}</bdi></p>
        ${asks}
      </section>
      <section class="pad" id="sign-in" data-base="${text(base)}" data-kind="login" data-origins="${text(JSON.stringify(origins))}" data-ready="${text(readyType)}"${isDemo ? " data-demo" : ""}>
        <noscript><p>This page needs JavaScript to talk to your wallet.</p></noscript>
      </section>
    </div>`;
}

function text(value: string): string {
  return Bun.escapeHTML(value);
}
