import type { UserNames } from "../../read/queries/users/user-names.ts";
import type { ApprovalView } from "../../signers/approvals.ts";
import { permissionsOf } from "../../signers/permissions.ts";
import { initialOf, plainName } from "../web/text/name.ts";

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

/** What the page says before its script runs. All texts of others are escaped. */
export function approvalContent({ view, names, isDemo }: PageOptions): string {
  const { appFid, publicKey, scopes, ttlSecs, userFid, redirectUrl } = view;
  const { username, displayName } = names;
  const claimed = plainName(displayName || username || "An app without a name");
  const allowed = permissionsOf(scopes).flatMap((name) => WORDS[name] ?? [name]);
  // A signer that a user has approved before is for this user alone.
  const demo = isDemo ? ` data-demo="${userFid ?? ""}"` : "";
  const redirect = redirectUrl === null ? "" : ` data-redirect="${text(redirectUrl)}"`;
  return `<h1>May this app act for you?</h1>
    <div class="card">
      <section class="pad app">
        <span class="face" aria-hidden="true">${text(initialOf(claimed))}</span>
        <div><h2><bdi class="user">${text(claimed)}</bdi></h2>
        <p class="dim s">${username ? `@${text(username)} &middot; ` : ""}fid ${appFid}</p></div>
        <p class="claim">The app chose this name itself. Nobody has checked it: go on only if you came here from the app.</p>
      </section>
      <section class="pad facts">
        <h3>In your name it may</h3>
        <ul>${allowed.map((words) => `<li>${text(words)}</li>`).join("")}</ul>
        <h3>Until</h3>
        <p>${duration(ttlSecs)} after it last did so, or until you remove its key.</p>
        ${userFid === null ? "" : `<h3>Only for</h3><p>fid ${userFid}, who approved it before.</p>`}
        <details><summary class="dim s">Its key</summary><code>0x${Buffer.from(publicKey).toString("hex")}</code></details>
      </section>
      <section class="pad" id="approval" data-status="${view.status}"${redirect}${demo}>
        <noscript><p>This page needs JavaScript to talk to your wallet.</p></noscript>
      </section>
    </div>`;
}

/** What it says of a link that is over. */
export function closedContent(message: string): string {
  return `<h1>Approve an app</h1><div class="card"><p class="pad">${text(sentence(message))}</p></div>`;
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
