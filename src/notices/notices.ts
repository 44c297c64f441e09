import type { Severity } from "../checks/check.ts";
import { CHECK_TABLE } from "../checks/table.ts";
import { randomBase58 } from "../lib/base58.ts";
import { parseJsonBytes } from "../lib/json.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { hasUnprintable } from "../lib/text.ts";
import { exponentialBackoffMs } from "../net/backoff.ts";
import type { RegistrationGuard } from "../net/guard.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { createLogThrottle } from "../runtime/log/log-throttle.ts";
import type { Logger } from "../runtime/log/logger.ts";
import type { Sealer } from "../vault/sealer.ts";
import { type CallChannelDeps, type CallEnd, createCallChannel } from "./call-channel.ts";
import { digestOf, testNotice } from "./notice.ts";
import type { NoticeCounts, NoticeStats } from "./notice-figures.ts";
import {
  HOUR_SECS,
  MAX_CHANNELS,
  type NoticeChannel,
  type NoticeClaim,
  type NoticeStore,
  type StoredVapidKey,
} from "./notice-store.ts";
import { quietHoursText, readQuietHours } from "./quiet-hours.ts";
import type { ChannelReport, ChannelRequest, ChannelsReport, ChannelTerms } from "./report.ts";
import { hookTargetOf, type NoticeTarget, openSecret, pushTargetOf, storeSecret } from "./target.ts";
import { createVapidKey, type VapidKey } from "./web-push.ts";

export interface NoticesDeps extends CallChannelDeps {
  readonly store: NoticeStore;
  /** Checks the URL of a channel before it is stored; each call is checked again. */
  readonly guard: RegistrationGuard;
  /** Undefined without a master key. */
  readonly sealer: Sealer | undefined;
  readonly pushHosts: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
}

/** Sends what happens to incidents to the channels of the operator. */
export type Notices = ReturnType<typeof createNotices>;

export interface AddedChannel {
  readonly id: string;
  /** Null for a browser. */
  readonly secret: string | null;
}

const ID_CHARS = 12;
const MAX_LABEL_CHARS = 60;
const MAX_CHECKS = 64;
const MAX_ATTEMPTS = 5;
const FIRST_RETRY_MS = 30_000;
const MAX_RETRY_MS = 3600_000;
const MAX_AN_HOUR = 20;
/** More at once are sent as one. */
const MAX_APART = 3;
/** Calls of one run; what is due then waits for the next. */
const MAX_CALLS = 2 * MAX_CHANNELS;
const FAULT_INTERVAL_MS = 60_000;
const SEVERITIES: readonly Severity[] = ["critical", "warning", "notice"];

export function createNotices(deps: NoticesDeps) {
  const { store, guard, sealer, clock, log, service } = deps;
  const throttle = createLogThrottle({ clock, intervalMs: FAULT_INTERVAL_MS });
  let isQueueing = false;
  const counts: NoticeCounts = { push: newCounts(), hook: newCounts() };
  let opened: (VapidKey & Pick<StoredVapidKey, "secret">) | undefined;

  async function vapidKey(): Promise<VapidKey | undefined> {
    const stored = (await store.vapidKey()) ?? (await store.makeVapidKey(newVapidKey()));
    const { publicKey, secret } = stored;
    if (opened && Buffer.compare(opened.secret, secret) === 0) return opened;
    const privateKey = openSecret(sealer, publicKey, stored);
    opened = privateKey && { publicKey, privateKey, secret };
    return opened;
  }

  function newVapidKey(): StoredVapidKey {
    const { publicKey, privateKey } = createVapidKey();
    return { publicKey, ...storeSecret(sealer, publicKey, privateKey), createdAt: nowSecs(clock) };
  }

  const call = createCallChannel(deps, vapidKey);

  async function send({ channel, notices }: NoticeClaim): Promise<void> {
    const { channelId, claims, hour, sent, label } = channel;
    const now = nowSecs(clock);
    const thisHour = Math.floor(now / HOUR_SECS);
    const settle = (outcome: Parameters<NoticeStore["settle"]>[1]) =>
      store.settle({ channelId, claims }, outcome, nowSecs(clock));
    if (
      hour === thisHour &&
      sent >= MAX_AN_HOUR &&
      !notices.some(({ content }) => content.state === "test")
    ) {
      const retryAt = (thisHour + 1) * HOUR_SECS;
      await settle({ done: [], sent: 0, attempts: channel.attempts, last: undefined, retryAt });
      return;
    }
    const target = targetOf(channel, sealer);
    const contents = notices.map(({ content }) => content);
    const messages =
      notices.length > MAX_APART
        ? [{ of: notices, notice: digestOf(contents, now) }]
        : notices.map((one) => ({ of: [one], notice: one.content }));
    const done: (typeof notices)[number][] = [];
    let end: CallEnd = { kind: "taken" };
    let count = 0;
    for (const { of, notice } of messages) {
      const [first] = of;
      const id = `${channelId}.${first?.incidentId ?? ""}.${first?.sentAt ?? 0}`;
      end = target
        ? await call(target, notice, id)
        : { kind: "failed", error: "sealed under a master key that the settings do not have" };
      if (end.kind === "gone" || end.kind === "later") break;
      if (end.kind === "taken") count += 1;
      done.push(...of);
    }
    if (end.kind === "gone") {
      await store.remove(channelId);
      log.info({ channel: label }, "A browser ended its subscription to notices");
      return;
    }
    const error = "error" in end ? end.error : "";
    const ofKind = counts[channel.kind];
    const attempts = end.kind === "later" ? channel.attempts + 1 : 0;
    const isGivenUp = attempts >= MAX_ATTEMPTS;
    ofKind.sent += count;
    if (end.kind === "later" && !isGivenUp) ofKind.retried += 1;
    else if (error !== "") ofKind.failed += 1;
    if (error !== "")
      throttle((others) =>
        log.warn({ channel: label, error, attempts, ...others }, "A notice was not taken"),
      );
    const waitSecs = Math.max(
      exponentialBackoffMs(FIRST_RETRY_MS, Math.max(1, attempts), MAX_RETRY_MS) / 1000,
      end.kind === "later" ? end.waitSecs : 0,
    );
    await settle({
      done: isGivenUp ? notices : done,
      sent: count,
      attempts: isGivenUp ? 0 : attempts,
      last: { at: nowSecs(clock), error },
      retryAt: end.kind === "later" && !isGivenUp ? nowSecs(clock) + waitSecs : undefined,
    });
  }

  async function callDue(): Promise<void> {
    let calls = 0;
    const callNext = async (): Promise<void> => {
      if (calls++ >= MAX_CALLS) return;
      const claim = await store.claim(nowSecs(clock));
      if (claim) await Promise.all([send(claim), callNext()]);
    };
    await callNext();
  }

  return {
    /**
     * Queues what has changed and calls the channels that are due, all at once and also while another call waits for receivers: one that
     * does not respond delays only its own notices.
     */
    async run(): Promise<void> {
      if (isQueueing) return;
      isQueueing = true;
      try {
        const isDue = await store.isDue(nowSecs(clock));
        if (isDue) await store.queue(nowSecs(clock));
        isQueueing = false;
        if (isDue) await callDue();
      } catch (cause) {
        throttle((others) => log.warn({ err: cause, ...others }, "Notices could not be sent"));
      } finally {
        isQueueing = false;
      }
    },
    report: async (): Promise<ChannelsReport> => ({
      channels: (await store.list()).map(reportOf),
      push: deps.pushHosts.length > 0,
    }),
    /** The public key for `PushManager.subscribe`; it is made at the first need. */
    async pushKey(): Promise<string> {
      return ((await store.vapidKey()) ?? (await store.makeVapidKey(newVapidKey()))).publicKey;
    },
    /** Adds a channel. An error is a sentence. `secret` verifies the signatures of a hook. */
    async add(request: ChannelRequest): Promise<Result<AddedChannel, string>> {
      const problem = problemOf(request);
      if (problem !== undefined) return err(problem);
      const made = request.kind === "push" ? pushTargetOf(request, deps.pushHosts) : hookTargetOf(request);
      if (!made.ok) return made;
      const target: NoticeTarget = made.value;
      const url = target.kind === "push" ? target.endpoint : target.url;
      const checked = await guard.check(url, "notices");
      if (!checked.ok) return err(`${target.kind === "push" ? "endpoint" : "url"} ${checked.error.reason}`);
      const id = target.kind === "push" ? idOf(url) : randomBase58(ID_CHARS);
      const { label, severity = "critical", checks = [] } = request;
      const isAdded = await store.add({
        channelId: id,
        kind: target.kind,
        label,
        host: new URL(url).hostname,
        ...storeSecret(sealer, id, Buffer.from(JSON.stringify(target))),
        severity,
        checks,
        quiet: quietOf(request),
        createdAt: nowSecs(clock),
        dueAt: null,
        leasedUntil: 0,
        claims: 0,
        attempts: 0,
        hour: 0,
        sent: 0,
        lastAt: null,
        lastError: null,
      });
      if (!isAdded) return err(`there are ${MAX_CHANNELS} channels, which is the limit`);
      return ok({ id, secret: target.kind === "hook" ? target.secret : null });
    },
    /** Changes a channel. An error is a sentence, or null if the channel does not exist. */
    async edit(channelId: string, terms: ChannelTerms): Promise<Result<string, string | null>> {
      const problem = problemOf(terms);
      if (problem !== undefined) return err(problem);
      const { label, severity, checks } = terms;
      const changed = {
        label,
        ...(severity && { severity }),
        ...(checks && { checks }),
        quiet: quietOf(terms),
      };
      return (await store.edit(channelId, changed)) ? ok(channelId) : err(null);
    },
    remove: (channelId: string): Promise<boolean> => store.remove(channelId),
    /** Sends a test with the next run, whatever the channel's severity and hours. */
    test: (channelId: string): Promise<boolean> => store.put(channelId, testNotice(service, nowSecs(clock))),
    stats: (): NoticeStats => counts,
  };
}

const newCounts = () => ({ sent: 0, failed: 0, retried: 0 });

const quietOf = ({ quiet_hours: quiet = "", zone = "UTC" }: ChannelTerms) =>
  quiet === "" ? null : (readQuietHours(quiet, zone) ?? null);

/** A browser that subscribes again has the same id. */
function idOf(endpoint: string): string {
  return new Bun.CryptoHasher("sha256").update(endpoint).digest("hex").slice(0, 24);
}

function problemOf({
  label,
  severity,
  checks = [],
  quiet_hours: quiet = "",
  zone = "UTC",
}: ChannelTerms): string | undefined {
  if (label === "" || label.length > MAX_LABEL_CHARS || hasUnprintable(label))
    return `label must have 1 to ${MAX_LABEL_CHARS} printable characters`;
  if (severity !== undefined && !SEVERITIES.includes(severity))
    return `severity must be one of ${SEVERITIES.join(", ")}`;
  const unknown = checks.find((id) => !CHECK_TABLE.some((check) => check.id === id));
  if (unknown !== undefined) return `checks has ${JSON.stringify(unknown)}, which is not the id of a check`;
  if (checks.length > MAX_CHECKS) return `checks must be at most ${MAX_CHECKS}`;
  if (quiet !== "" && !readQuietHours(quiet, zone))
    return 'quiet_hours must be like "22:00-07:00", and zone a time zone such as "Europe/Berlin"';
  return undefined;
}

/** Opens the target of a channel; undefined under a master key that the settings do not have. */
function targetOf(channel: NoticeChannel, sealer: Sealer | undefined): NoticeTarget | undefined {
  const opened = openSecret(sealer, channel.channelId, channel);
  return opened && (parseJsonBytes(opened) as NoticeTarget);
}

function reportOf(channel: NoticeChannel): ChannelReport {
  const { channelId, kind, label, host, severity, checks, quiet, createdAt, lastAt, lastError } = channel;
  return {
    id: channelId,
    kind,
    label,
    host,
    severity,
    checks,
    quiet_hours: quiet && quietHoursText(quiet),
    created_at: createdAt,
    last_at: lastAt,
    last_error: lastError || null,
  };
}
