import { renderSVG } from "uqr";
import type { DocumentTexts } from "../document-texts.ts";

/** What the page of a channel shows before its script runs. */
export interface ChannelPage {
  /** The base path of its script's calls. */
  readonly base: string;
  readonly domain: string;
  readonly siweUri: string;
  readonly secondsLeft: number;
  /** The user agent that opened the channel. */
  readonly userAgent: string;
  readonly secondsOpen: number;
  /** Opens the client app that approves at the upstream relay; null if there is none. */
  readonly appUrl: string | null;
  readonly isDemo: boolean;
}

/** Texts of strangers are escaped. */
export function channelContent(page: ChannelPage, msg: DocumentTexts): string {
  const { base, domain, siweUri, secondsLeft, userAgent, secondsOpen, appUrl, isDemo } = page;
  return `<h1>${msg.signIn}</h1>
    <div class="card">
      <section class="pad stack sign-in-to">
        <h2><bdi class="user">${text(domain)}</bdi></h2>
        <p class="s dim"><bdi class="user">${text(siweUri)}</bdi></p>
        <p class="claim" id="domain-claim">${msg.noManifestConfirmsTheDomain}</p>
        <p class="s">${text(msg.youSignInOn(browserOf(userAgent, msg), ago(secondsOpen, msg)))}</p>
        <p class="s dim">${msg.minutesLeft(Math.ceil(secondsLeft / 60))}</p>
      </section>
      ${appUrl === null ? "" : appWay(appUrl, msg)}
      <section class="pad" id="sign-in" data-base="${text(base)}" data-kind="channel"${isDemo ? " data-demo" : ""}>
        <noscript><p>${msg.javaScriptForTheWallet}</p></noscript>
      </section>
    </div>`;
}

/** Returns the ways to open the client app: a QR code for another device and a button for this one. The node renders the image itself. */
function appWay(url: string, msg: DocumentTexts): string {
  const image = Buffer.from(renderSVG(url, { border: 2 })).toString("base64");
  return `<section class="pad stack">
        <h3>${msg.withTheApp}</h3>
        <img alt="${msg.qrCode}" width="192" height="192" src="data:image/svg+xml;base64,${image}">
        <p><a class="btn" rel="noreferrer" href="${text(url)}">${msg.openTheApp}</a></p>
        <h3>${msg.withAWallet}</h3>
      </section>`;
}

/** Returns what the page shows for a link that has ended or is wrong. */
export function closedContent(message: string, msg: DocumentTexts): string {
  return `<h1>${msg.signIn}</h1><div class="card"><p class="pad">${text(message)}</p></div>`;
}

const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/Edg\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\//, "Firefox"],
  [/Chrom(?:e|ium)\//, "Chrome"],
  [/Safari\//, "Safari"],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/Linux/, "Linux"],
];

/** Returns the family of a browser and its system, never text from the sender. */
function browserOf(userAgent: string, msg: DocumentTexts): string {
  const named = (table: typeof BROWSERS) => table.find(([pattern]) => pattern.test(userAgent))?.[1];
  const browser = named(BROWSERS);
  if (browser === undefined) return msg.noKnownBrowser;
  const system = named(SYSTEMS);
  return system === undefined ? browser : msg.browserOn(browser, system);
}

function ago(secs: number, msg: DocumentTexts): string {
  return secs < 60 ? msg.openedJustNow : msg.openedAgo(Math.floor(secs / 60));
}

function text(value: string): string {
  return Bun.escapeHTML(value);
}
