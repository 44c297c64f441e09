import type { DocumentTexts } from "../document-texts.ts";

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

export function loginContent(page: LoginPage, msg: DocumentTexts): string {
  const { base, name, host, owner, mayWrite, origins, readyType, isDemo } = page;
  return `<h1>${msg.signIn}</h1>
    <div class="card">
      <section class="pad stack sign-in-to">
        <h2><bdi class="user">${text(name)}</bdi></h2>
        <p class="s dim"><bdi class="user">${text(host)}</bdi> &middot; ${msg.registeredHereBy(`<bdi class="user">${text(owner)}</bdi>`)}</p>
        <p>${mayWrite ? msg.itAsksForAKey : msg.itGetsNoKey}</p>
      </section>
      <section class="pad" id="sign-in" data-base="${text(base)}" data-kind="login" data-origins="${text(JSON.stringify(origins))}" data-ready="${text(readyType)}"${isDemo ? " data-demo" : ""}>
        <noscript><p>${msg.javaScriptForTheWallet}</p></noscript>
      </section>
    </div>`;
}

function text(value: string): string {
  return Bun.escapeHTML(value);
}
