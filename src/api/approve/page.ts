import type { UserNames } from "../../read/queries/users/user-names.ts";
import type { ApprovalView } from "../../signers/approvals.ts";
import { permissionsOf } from "../../signers/permissions.ts";

/** What each permission lets an app do, as its user reads it. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  WRITE_ALL: [
    "publish and delete casts",
    "like and recast",
    "follow and unfollow",
    "add and remove verified addresses",
    "change your profile",
  ],
  PUBLISH_CAST: ["publish casts"],
  DELETE_CAST: ["delete casts"],
  PUBLISH_REACTION: ["like and recast"],
  DELETE_REACTION: ["remove likes and recasts"],
  FOLLOW_USER: ["follow users"],
  UNFOLLOW_USER: ["unfollow users"],
  ADD_VERIFICATION: ["add verified addresses"],
  REMOVE_VERIFICATION: ["remove verified addresses"],
  UPDATE_PROFILE: ["change your profile"],
};

const DAY_SECS = 86_400;

interface PageOptions {
  readonly view: ApprovalView;
  /** Of the app. */
  readonly names: UserNames;
  /** Whether people of the demo network may sign here. */
  readonly isDemo: boolean;
}

/** The document of an approval. All texts of others are escaped. */
export function approvalPage({ view, names, isDemo }: PageOptions): string {
  const { appFid, publicKey, scopes, ttlSecs, userFid, redirectUrl } = view;
  const { username, displayName } = names;
  const claimed = displayName || username || "An app without a name";
  const [initial = "?"] = claimed;
  const allowed = permissionsOf(scopes).flatMap((name) => WORDS[name] ?? [name]);
  return shell(
    "Approve an app",
    `<h1>May this app act for you?</h1>
    <div class="card">
      <section class="app">
        <span class="face" aria-hidden="true">${text(initial.toUpperCase())}</span>
        <div><h2>${text(claimed)}</h2>
        <p class="soft">${username ? `@${text(username)} &middot; ` : ""}fid ${appFid}</p></div>
        <p class="claim">The app chose this name itself. Nobody has checked it: go on only if you came here from the app.</p>
      </section>
      <section class="facts">
        <h3>In your name it may</h3>
        <ul>${allowed.map((words) => `<li>${text(words)}</li>`).join("")}</ul>
        <h3>Until</h3>
        <p>${duration(ttlSecs)} after it last did so, or until you remove its key.</p>
        ${userFid === null ? "" : `<h3>Only for</h3><p>fid ${userFid}, who approved it before.</p>`}
        <details><summary class="soft">Its key</summary><code>0x${Buffer.from(publicKey).toString("hex")}</code></details>
      </section>
      <section id="approval" data-status="${view.status}"${redirectUrl === null ? "" : ` data-redirect="${text(redirectUrl)}"`}>
        <noscript><p>This page needs JavaScript to talk to your wallet.</p></noscript>
        <div id="wallets"></div>
        ${isDemo ? demoForm(userFid) : ""}
        <div id="confirm" hidden>
          <p id="account"></p>
          <button id="sign" type="button">Sign</button>
          <button id="other" type="button" class="second">Use another wallet</button>
        </div>
        <p id="message" role="status"></p>
        <a id="back" hidden rel="noreferrer">Back to the app</a>
      </section>
    </div>
    <script src="/approve/assets/page.js" type="module"></script>`,
  );
}

/** The document of a link that is over. */
export function closedPage(message: string): string {
  return shell(
    "Approve an app",
    `<h1>Approve an app</h1><div class="card"><p>${text(sentence(message))}</p></div>`,
  );
}

/** A signer that a user has approved before is for this user alone. */
const demoForm = (userFid: number | null) => `<form id="demo">
          <p>This is a demo network. Sign as one of its people, whose keys are public, without a wallet.</p>
          <label>Person, by fid <input name="fid" inputmode="numeric" pattern="[0-9]+" value="${userFid ?? 3}"${userFid === null ? "" : " readonly"} autocomplete="off" required></label>
          <button type="submit">Sign as this person</button>
        </form>`;

function shell(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <title>${title}</title>
    <link rel="stylesheet" href="/approve/assets/page.css">
  </head>
  <body>
    <main>
    ${body}
    </main>
  </body>
</html>
`;
}

/** Messages of errors begin in lower case and have no full stop. */
function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}

function text(value: string): string {
  return Bun.escapeHTML(value);
}

function duration(secs: number): string {
  const days = Math.floor(secs / DAY_SECS);
  return days >= 1 ? `${days} ${days === 1 ? "day" : "days"}` : `${secs} seconds`;
}
