import type { Envelope } from "../../auth/jfs.ts";
import { createKeyring } from "../../demo/keys.ts";
import { type PostedNotification, sealEnvelope } from "../../demo/push-client.ts";
import { clientFidsOf, demoFids, isDemoFid, MAIN_CLIENT_FID, SECOND_CLIENT_FID } from "../../demo/roster.ts";
import { GenerationCache } from "../../lib/generation-cache.ts";
import type { SetTimer } from "../../runtime/clock.ts";
import { EventFeed, type FeedPage } from "./event-feed.ts";

/** A demo person's phone that received a notification. */
export interface Buzz {
  readonly atMs: number;
  readonly fid: number;
  readonly clientFid: number;
  readonly appId: string;
  readonly notificationId: string;
  readonly title: string;
  readonly body: string;
  readonly targetUrl: string;
  /** `rate-limited`: the client has asked to send it later. */
  readonly outcome: "shown" | "rate-limited";
}

/** The response of a client to a batch, as the protocol defines it. */
export interface BatchAnswer {
  readonly result: {
    readonly successfulTokens: readonly string[];
    readonly invalidTokens: readonly string[];
    readonly rateLimitedTokens: readonly string[];
  };
}

/** A person's report that they added an app, signed with the key that their client holds. */
export interface AddedApp {
  readonly fid: number;
  readonly clientFid: number;
  readonly envelope: Envelope;
}

/** The phones of demo people, on which two client apps show notifications. */
export interface DemoPhones {
  /** Signs the reports of the first `people` of the network, each through the person's client. */
  envelopes(appId: string, people: number): AddedApp[];
  /** Accepts a batch for the users of a client. */
  show(clientFid: number, notification: PostedNotification): BatchAnswer;
  next(position: number, timeoutMs: number): Promise<FeedPage<Buzz>>;
}

export interface DemoPhonesDeps {
  /** Returns the notification URL of a client. */
  readonly urlOf: (clientFid: number) => string;
  readonly nowMs: () => number;
  readonly setTimer: SetTimer;
}

/** The clients of the demo network. */
export const CLIENT_FIDS: readonly number[] = [MAIN_CLIENT_FID, SECOND_CLIENT_FID];

const MAX_BUZZES = 400;
const MAX_TEXT_CHARS = 2048;
/** Number of notifications for which a client remembers the tokens that it has shown them to. */
const MAX_NOTIFICATIONS = 200;
const MAX_TOKENS = 2_000;
/** The second client asks to send every tenth of its notifications later. */
const LIMITED_EVERY = 10;
const TOKEN = /^demo-([1-9A-HJ-NP-Za-km-z]{1,32})-([1-9][0-9]{0,2})$/;

/** What one client has shown of a notification. */
interface Shown {
  readonly tokens: Set<string>;
  offered: number;
}

export function createDemoPhones({ urlOf, nowMs, setTimer }: DemoPhonesDeps): DemoPhones {
  const feed = new EventFeed<Buzz>(MAX_BUZZES);
  const notifications = new GenerationCache<string, Shown>(MAX_NOTIFICATIONS);
  const keyring = createKeyring();

  function shownOf(clientFid: number, notificationId: string): Shown {
    const key = `${clientFid} ${notificationId}`;
    const known = notifications.get(key);
    if (known) return known;
    const shown = { tokens: new Set<string>(), offered: 0 };
    notifications.set(key, shown);
    return shown;
  }

  /** Returns the user of a token. A token contains its app and user, so that the tokens of an earlier run still work. */
  function userOf(
    token: string,
    clientFid: number,
  ): { readonly appId: string; readonly fid: number } | undefined {
    const [, appId = "", text = ""] = TOKEN.exec(token) ?? [];
    const fid = Number(text);
    return isDemoFid(fid) && clientOf(fid) === clientFid ? { appId, fid } : undefined;
  }

  return {
    envelopes: (appId, people) =>
      demoFids()
        .slice(0, people)
        .map((fid) => {
          const clientFid = clientOf(fid);
          const envelope = sealEnvelope(fid, keyring.signer(fid, clientFid), {
            event: "miniapp_added",
            notificationDetails: { url: urlOf(clientFid), token: `demo-${appId}-${fid}` },
          });
          return { fid, clientFid, envelope };
        }),

    show(clientFid, { notificationId, title, body, targetUrl, tokens }) {
      const shown = shownOf(clientFid, cut(notificationId));
      const texts = {
        notificationId: cut(notificationId),
        title: cut(title),
        body: cut(body),
        targetUrl: cut(targetUrl),
      };
      const successfulTokens: string[] = [];
      const invalidTokens: string[] = [];
      const rateLimitedTokens: string[] = [];
      for (const token of tokens) {
        const user = userOf(token, clientFid);
        if (!user) {
          invalidTokens.push(token);
          continue;
        }
        // Like every client, it shows a user the same notification only once, however often it is posted.
        if (shown.tokens.has(token)) {
          successfulTokens.push(token);
          continue;
        }
        shown.offered += 1;
        const isLimited = clientFid === SECOND_CLIENT_FID && shown.offered % LIMITED_EVERY === 0;
        if (!isLimited && shown.tokens.size < MAX_TOKENS) shown.tokens.add(token);
        (isLimited ? rateLimitedTokens : successfulTokens).push(token);
        const outcome = isLimited ? "rate-limited" : "shown";
        feed.push({ atMs: nowMs(), ...user, clientFid, ...texts, outcome });
      }
      return { result: { successfulTokens, invalidTokens, rateLimitedTokens } };
    },

    next: (position, timeoutMs) => feed.next(position, timeoutMs, setTimer),
  };
}

/** Truncates a text. The limit exceeds what a node sends; other programs on this machine may send more. */
function cut(text: string): string {
  return text.slice(0, MAX_TEXT_CHARS);
}

function clientOf(fid: number): number {
  return clientFidsOf(fid)[0] ?? MAIN_CLIENT_FID;
}
