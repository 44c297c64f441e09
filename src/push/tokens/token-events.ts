import type { App, AppStore } from "../../apps/app-store.ts";
import { type Err, ok, type Result } from "../../lib/result.ts";
import { badField, type Refusal, refused } from "../../management/refusal.ts";
import type { UrlGuard } from "../../net/guard.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/logger.ts";
import type { ChangeLimit, ChangesExhausted, TokenEvent, TokenStore } from "../store/token-store.ts";
import { type GivenEvent, readTokenEvent } from "./token-event.ts";
import type { CountTokenEvent } from "./token-metrics.ts";

/**
 * An envelope can be replayed to any app at any time, because nothing in it identifies a repeat. This limit bounds the
 * effect of replays.
 */
export const TOKEN_CHANGE_LIMIT: ChangeLimit = { maxChanges: 60, windowSecs: 3600 };

export interface TokenEventsDeps {
  readonly apps: AppStore;
  readonly tokens: TokenStore;
  readonly guard: UrlGuard;
  readonly clock: Clock;
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
export interface TokenEvents {
  findApp(appId: string): Promise<Result<App, Refusal>>;
  /** Validates and applies an event; a refusal changes only the count of the sender's events. */
  apply(app: App, sender: EventSender, requestId: string): Promise<Result<undefined, Refusal>>;
}

export function createTokenEvents(deps: TokenEventsDeps): TokenEvents {
  const { apps, tokens, guard, clock, count } = deps;
  const log = deps.log.child({ subsystem: "tokens" });
  const now = () => nowSecs(clock);

  async function apply(
    { appId }: App,
    sender: EventSender,
    requestId: string,
  ): Promise<Result<undefined, Refusal>> {
    const { fid, clientFid } = sender;
    // Checked before the host of the URL is resolved, which is the most expensive step.
    const early = await tokens.exhausted({ appId, fid, nowSecs: now() }, TOKEN_CHANGE_LIMIT);
    if (early) return tooManyChanges(early);
    const input = readTokenEvent(sender.payload);
    const event = input.ok ? await checkUrl(input.value, fid) : input;
    if (!event.ok) {
      const exhausted = await tokens.countRefused({ appId, fid, nowSecs: now() }, TOKEN_CHANGE_LIMIT);
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
    async findApp(appId) {
      const app = await apps.find(appId, now());
      return app ? ok(app) : noSuchApp();
    },

    async apply(app, sender, requestId) {
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
