import type { AppService } from "../../apps/app-service.ts";
import type { App, AppStore } from "../../apps/app-store.ts";
import { parseStrictJsonBytes } from "../../lib/json.ts";
import { type Err, ok, type Result } from "../../lib/result.ts";
import { type JsonObject, ownValue, readObject, readText } from "../../management/fields.ts";
import { badField, type Refusal, refused } from "../../management/refusal.ts";
import type { UrlGuard } from "../../net/guard.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import type {
  ChangeLimit,
  ChangesExhausted,
  TokenDetails,
  TokenEvent,
  TokenEventName,
  TokenEventWith,
  TokenPosition,
  TokenRecord,
  TokenStore,
} from "../store/tokens/token-store.ts";
import type { CountTokenEvent } from "./token-metrics.ts";

/** Details as they were sent, with an unchecked URL. */
type GivenDetails = Omit<TokenDetails, "host">;

/** An event as it was sent, with an unchecked URL. */
type GivenEvent = TokenEventWith<GivenDetails>;

const MAX_URL_CHARS = 1024;
const MAX_TOKEN_CHARS = 256;

/** Events by all names that clients use. */
const EVENT_NAMES: ReadonlyMap<unknown, TokenEventName> = new Map([
  ["miniapp_added", "miniapp_added"],
  ["miniapp_removed", "miniapp_removed"],
  ["notifications_enabled", "notifications_enabled"],
  ["notifications_disabled", "notifications_disabled"],
  // Earlier names, from when mini apps were called frames.
  ["frame_added", "miniapp_added"],
  ["frame_removed", "miniapp_removed"],
]);

export const readDetailsUrl = readText({ min: 1, max: MAX_URL_CHARS });
export const readDetailsToken = readText({ min: 1, max: MAX_TOKEN_CHARS });

/** Reads the payload of an envelope. Unknown keys are ignored. */
function readTokenEvent(payload: Uint8Array): Result<GivenEvent, Refusal> {
  const body = readObject(parseStrictJsonBytes(payload), "payload");
  if (!body.ok) return body;
  const event = ownValue(body.value, "event");
  if (event === undefined) return badField("missing field event");
  const name = EVENT_NAMES.get(event);
  if (name === undefined) return badField("event is unknown");
  if (name === "miniapp_removed" || name === "notifications_disabled") return ok({ name });
  const read = readDetails(body.value);
  if (!read.ok) return read;
  const details = read.value;
  if (name === "miniapp_added") return ok({ name, details });
  return details === undefined ? badField("missing field notificationDetails") : ok({ name, details });
}

function readDetails(body: JsonObject): Result<GivenDetails | undefined, Refusal> {
  const spelling = Object.hasOwn(body, "notificationDetails")
    ? "notificationDetails"
    : "notification_details";
  const input = ownValue(body, spelling);
  if (input === undefined) return ok(undefined);
  const details = readObject(input, "notificationDetails");
  if (!details.ok) return details;
  const url = readDetailsUrl(ownValue(details.value, "url"), "notificationDetails.url");
  if (!url.ok) return url;
  const token = readDetailsToken(ownValue(details.value, "token"), "notificationDetails.token");
  return token.ok ? ok({ url: url.value, token: token.value }) : token;
}

/**
 * An envelope can be replayed to any app at any time, because nothing in it identifies a repetition. This limit bounds the effect of
 * replays.
 */
export const TOKEN_CHANGE_LIMIT: ChangeLimit = { maxChanges: 60, windowSecs: 3600 };

export interface TokenEventsDeps {
  readonly apps: AppStore;
  readonly tokens: TokenStore;
  readonly guard: UrlGuard;
  readonly clock: Clock;
  /** The clock by which the state counts events. */
  readonly stateClock: Clock;
  readonly log: Logger;
  readonly count: CountTokenEvent;
}

/** Sender and payload of a verified envelope. */
export interface EventSender {
  readonly fid: number;
  /** 0 for a client whose key has no fid. */
  readonly clientFid: number;
  readonly payload: Uint8Array;
}

/** Handles the token events that clients send. */
export type TokenEvents = ReturnType<typeof createTokenEvents>;

export function createTokenEvents(deps: TokenEventsDeps) {
  const { apps, tokens, guard, clock, stateClock, count } = deps;
  const log = deps.log.child({ subsystem: "tokens" });
  const now = () => nowSecs(clock);

  async function apply(
    { appId }: App,
    sender: EventSender,
    requestId: string,
  ): Promise<Result<undefined, Refusal>> {
    const { fid, clientFid } = sender;
    // Checked before the URL's host is resolved, which is the most expensive step.
    const early = await tokens.exhausted({ appId, fid, nowSecs: nowSecs(stateClock) }, TOKEN_CHANGE_LIMIT);
    if (early) return tooManyChanges(early);
    const input = readTokenEvent(sender.payload);
    const event = input.ok ? await checkUrl(input.value, fid) : input;
    if (!event.ok) {
      const exhausted = await tokens.countRefused({ appId, fid }, TOKEN_CHANGE_LIMIT);
      return exhausted ? tooManyChanges(exhausted) : event;
    }
    const outcome = await tokens.apply(
      { appId, fid, clientFid, event: event.value, nowSecs: now() },
      TOKEN_CHANGE_LIMIT,
    );
    if (outcome === "not-found") return noSuchApp();
    if (outcome !== "applied") return tooManyChanges(outcome);
    log.info({ appId, event: event.value.name, fid, clientFid, requestId }, "Applied a token event");
    count({ outcome: "applied", event: event.value.name });
    return ok(undefined);
  }

  /** Checks the URL like every outbound URL: here, and again at every call. */
  async function checkUrl(input: GivenEvent, fid: number): Promise<Result<TokenEvent, Refusal>> {
    if (input.name === "miniapp_removed" || input.name === "notifications_disabled") return ok(input);
    if (input.details === undefined) return ok({ name: "miniapp_added", details: undefined });
    const checked = await guard.check(input.details.url, `fid:${fid}`);
    if (!checked.ok) return badField(`notificationDetails.url ${checked.error.reason}`);
    return ok({ ...input, details: { ...input.details, host: checked.value.url.host } });
  }

  return {
    async findApp(appId: string): Promise<Result<App, Refusal>> {
      const app = await apps.find(appId, now());
      return app ? ok(app) : noSuchApp();
    },

    /** Validates and applies an event; a refusal changes only the count of the sender's events. */
    async apply(app: App, sender: EventSender, requestId: string): Promise<Result<undefined, Refusal>> {
      const result = await apply(app, sender, requestId);
      if (!result.ok) count({ outcome: result.error.kind });
      return result;
    },
  };
}

function noSuchApp(): Err<Refusal> {
  return refused("notFound", "no such app");
}

function tooManyChanges({ retryAfterSecs }: ChangesExhausted): Err<Refusal> {
  const { maxChanges } = TOKEN_CHANGE_LIMIT;
  const message = `an fid may change its tokens of an app ${maxChanges} times an hour`;
  return refused("tooManyRequests", message, retryAfterSecs);
}

/** Notification tokens of an app, for its owner. */
export type TokenService = ReturnType<typeof createTokenService>;

export function createTokenService(deps: { readonly apps: AppService; readonly tokens: TokenStore }) {
  return {
    /** Returns at most `max` rows after `after`, by fid and client. `fid` is the acting fid. */
    async list(
      fid: number,
      page: { readonly appId: string; readonly after: TokenPosition | undefined; readonly max: number },
    ): Promise<Result<TokenRecord[], Refusal>> {
      const app = await deps.apps.get(fid, page.appId);
      return app.ok ? ok(await deps.tokens.list(page)) : app;
    },
  };
}
