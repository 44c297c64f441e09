import type { UserNames } from "../../read/queries/users/user-names.ts";
import type { ApprovalView } from "../../signers/approvals.ts";
import { permissionsOf } from "../../signers/permissions.ts";

/** What each permission lets an app do, as its user reads it. */
const WORDS: Readonly<Record<string, string>> = {
  WRITE_ALL: "publish and delete casts, like and recast, follow, verify addresses and change your profile",
  PUBLISH_CAST: "publish casts",
  DELETE_CAST: "delete casts",
  PUBLISH_REACTION: "like and recast",
  DELETE_REACTION: "remove likes and recasts",
  FOLLOW_USER: "follow users",
  UNFOLLOW_USER: "unfollow users",
  ADD_VERIFICATION: "add verified addresses",
  REMOVE_VERIFICATION: "remove verified addresses",
  UPDATE_PROFILE: "change your profile",
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
  const claimed = displayName || username || "without a name";
  const allowed = permissionsOf(scopes).map((name) => WORDS[name] ?? name);
  const facts = [
    ["App", `${text(claimed)}${username ? ` (@${text(username)})` : ""}, fid ${appFid}`],
    ["It may", `${allowed.map(text).join(", ")} &ndash; in your name`],
    ["Until", `${duration(ttlSecs)} after its last use, or until you remove it`],
    ["Key", `<code>0x${Buffer.from(publicKey).toString("hex")}</code>`],
    ...(userFid === null ? [] : [["Only for", `fid ${userFid}, who approved it before`]]),
  ];
  return shell(
    "Approve an app",
    `<h1>Approve an app</h1>
    <p>An app asks for a key that signs for you on Farcaster. The app chose its name itself: nobody has checked it.</p>
    <dl>${facts.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join("")}</dl>
    <noscript><p>This page needs JavaScript to talk to your wallet.</p></noscript>
    <div id="approval" data-status="${view.status}"${redirectUrl === null ? "" : ` data-redirect="${text(redirectUrl)}"`}>
      <div id="wallets"></div>
      ${isDemo ? demoForm : ""}
      <div id="confirm" hidden><p id="account"></p><button id="sign" type="button">Sign</button></div>
      <p id="message" role="status"></p>
      <p><a id="back" hidden rel="noreferrer">Back to the app</a></p>
    </div>
    <script src="/approve/assets/page.js" type="module"></script>`,
  );
}

/** The document of a link that is over. */
export function closedPage(message: string): string {
  return shell("Approve an app", `<h1>Approve an app</h1><p>${text(message)}</p>`);
}

const demoForm = `<form id="demo"><p>This is a demo network: sign as one of its people, without a wallet.</p>
      <label>fid <input name="fid" inputmode="numeric" pattern="[0-9]+" value="3" required></label>
      <button type="submit">Sign as this person</button></form>`;

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

function text(value: string): string {
  return Bun.escapeHTML(value);
}

function duration(secs: number): string {
  const days = Math.floor(secs / DAY_SECS);
  return days >= 1 ? `${days} ${days === 1 ? "day" : "days"}` : `${secs} seconds`;
}
