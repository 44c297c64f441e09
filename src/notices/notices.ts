import { ownerCheckOf } from "../checks/owners/owner-table.ts";
import { parseJsonBytes } from "../lib/json.ts";
import { exponentialBackoffMs } from "../net/backoff.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { createLogThrottle } from "../runtime/log/log-throttle.ts";
import type { Logger } from "../runtime/log/logger.ts";
import type { Sealer } from "../vault/sealer.ts";
import { type CallChannelDeps, type CallEnd, createCallChannel } from "./call-channel.ts";
import { acts, type ChannelOwner, type ChannelsDeps, checksOf, createChannels } from "./channels.ts";
import { digestOf, type Notice, OPERATOR } from "./notice.ts";
import type { NoticeCounts, NoticeStats } from "./notice-figures.ts";
import type { ChannelsReport } from "./report.ts";
import {
  MAX_CHANNELS,
  type NoticeClaim,
  type NoticeStore,
  type StoredVapidKey,
} from "./store/notice-store.ts";
import { HOUR_SECS, type NoticeChannel } from "./store/queue-notices.ts";
import { type NoticeTarget, openSecret, storeSecret } from "./target.ts";
import { createVapidKey, type VapidKey } from "./web-push.ts";

export interface NoticesDeps extends CallChannelDeps, ChannelsDeps {
  readonly service: string;
  /** Reports whether the index may lack a transfer that another node has. If so, the channels of owners wait. */
  readonly isBehind: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Sends changes of incidents to the channels of the operator and of the owners whose records are affected. */
export type Notices = ReturnType<typeof createNotices>;

const MAX_ATTEMPTS = 5;
const FIRST_RETRY_MS = 30_000;
const MAX_RETRY_MS = 3600_000;
/** How long a channel that is not active here waits: another node may know of a later transfer. */
const IDLE_SECS = 60;
const MAX_AN_HOUR = 20;
/**
 * Maximum number of notices about owners' records that a channel of the operator receives per hour. The rest of its limit is kept for
 * notices about the node.
 */
const MAX_OF_OWNERS_AN_HOUR = 10;
/** If more are due at the same time, they are combined into a digest. */
const MAX_APART = 3;
/** Maximum number of calls per run. Channels that are still due wait for the next run. */
const MAX_CALLS = 2 * MAX_CHANNELS;
/** Maximum number of concurrent calls over all runs. Beyond half of them, only the operator's channels are called. */
const MAX_UNDER_WAY = 2 * MAX_CALLS;
const FAULT_INTERVAL_MS = 60_000;

export function createNotices(deps: NoticesDeps) {
  const { store, sealer, owners, isBehind, clock, log } = deps;
  const throttle = createLogThrottle({ clock, intervalMs: FAULT_INTERVAL_MS });
  let isQueueing = false;
  let isBound = false;
  let underWay = 0;
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

  /**
   * Binds channels that have no custody address yet to the fid's current one, once the index is current. A channel whose fid is not known
   * yet waits for a later start.
   */
  async function bindChannels(): Promise<void> {
    if (isBound || isBehind()) return;
    for (const { channelId, ownerFid } of await store.listUnbound()) {
      const custody = await owners.newest(ownerFid);
      if (custody) await store.bind(channelId, custody);
    }
    isBound = true;
  }

  const callChannel = createCallChannel(deps, vapidKey);

  async function send({ channel, notices: due }: NoticeClaim): Promise<void> {
    const { channelId, ownerFid, custody, claims, hour, sent, label } = channel;
    const now = nowSecs(clock);
    const thisHour = Math.floor(now / HOUR_SECS);
    const settle = (outcome: Parameters<NoticeStore["settle"]>[1]) =>
      store.settle({ channelId, claims }, outcome, nowSecs(clock));
    if (!(await acts(channel, owners))) {
      const done = due.filter(({ sentAt }) => sentAt <= now - HOUR_SECS);
      const { attempts } = channel;
      await settle({ done, sent: 0, attempts, last: undefined, retryAt: now + IDLE_SECS });
      return;
    }
    const sentNow = hour === thisHour ? sent : 0;
    const maxOfOwners = ownerFid === OPERATOR ? MAX_OF_OWNERS_AN_HOUR : MAX_AN_HOUR;
    const mayHave = ({ state, check }: Notice) =>
      state === "test" || !(sentNow >= MAX_AN_HOUR || (sentNow >= maxOfOwners && isOfOwner(check)));
    const notices = due.filter(({ content }) => mayHave(content));
    const restAt = notices.length < due.length ? (thisHour + 1) * HOUR_SECS : undefined;
    if (notices.length === 0) {
      await settle({ done: [], sent: 0, attempts: channel.attempts, last: undefined, retryAt: restAt });
      return;
    }
    const target = targetOf(channel, sealer);
    const [ofNode, ofOwners] = [false, true].map((is) =>
      notices.filter(({ content }) => isOfOwner(content.check) === is),
    );
    // Grouped separately, so that incidents of owners' records do not hide those of the node.
    const messages = [ofNode ?? [], ofOwners ?? []].flatMap((group) => {
      const contents = group.map(({ content }) => content);
      return group.length > MAX_APART
        ? [{ queued: group, notice: digestOf(contents, ownerFid, now) }]
        : group.map((one) => ({ queued: [one], notice: one.content }));
    });
    const done: (typeof notices)[number][] = [];
    let end: CallEnd = { kind: "taken" };
    let count = 0;
    for (const { queued, notice } of messages) {
      // The fid may be transferred between two calls.
      if (!(await acts(channel, owners))) break;
      const [first] = queued;
      const id = `${channelId}.${first?.incidentId ?? ""}.${first?.sentAt ?? 0}`;
      end = target
        ? await callChannel(target, notice, id)
        : { kind: "failed", error: "sealed under a master key that the settings do not have" };
      if (end.kind === "gone" || end.kind === "later") break;
      if (end.kind === "taken") count += 1;
      done.push(...queued);
    }
    if (end.kind === "gone") {
      await store.remove({ channelId, ownerFid, custody });
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
        log.warn({ channel: label, error, attempts, ...others }, "A notice was not accepted"),
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
      retryAt: end.kind === "later" && !isGivenUp ? nowSecs(clock) + waitSecs : restAt,
    });
  }

  async function call(claim: NoticeClaim): Promise<void> {
    underWay += 1;
    try {
      await send(claim);
    } finally {
      underWay -= 1;
    }
  }

  async function callDue(): Promise<void> {
    let calls = 0;
    // Owners have more channels, which may also have been due for longer.
    const callNext = async (whose: "operator" | "all" = "operator"): Promise<void> => {
      const isFull = underWay >= (whose === "all" ? MAX_UNDER_WAY / 2 : MAX_UNDER_WAY);
      if (calls >= MAX_CALLS || isFull) return;
      const claim = await store.claim(nowSecs(clock), whose);
      if (claim) calls += 1;
      // The owner's next channel has to wait until this call ends.
      if (claim) await Promise.all([call(claim).then(() => callNext()), callNext(whose)]);
      else if (whose === "operator" && !isBehind()) await callNext("all");
    };
    await callNext();
  }

  const channelsOf = (owner: ChannelOwner) => createChannels(deps, owner);
  const operators = channelsOf({ ownerFid: OPERATOR, custody: null, maxChannels: MAX_CHANNELS });
  const hasPush = () => deps.pushHosts.length > 0;

  return {
    /** Channels of the operator. */
    ...operators,
    /** Channels of an owner. */
    channelsOf,
    /** Reports whether the node sends to browsers. */
    hasPush,
    /**
     * Queues changes and calls all due channels concurrently, even while an earlier run still waits for receivers: a receiver that does
     * not respond delays only its own notices.
     */
    async run(): Promise<void> {
      if (isQueueing) return;
      isQueueing = true;
      try {
        await bindChannels();
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
      channels: await operators.list(),
      checks: checksOf(OPERATOR),
      push: hasPush(),
    }),
    /** Returns the public key for `PushManager.subscribe`, and creates it on first use. */
    async pushKey(): Promise<string> {
      return ((await store.vapidKey()) ?? (await store.makeVapidKey(newVapidKey()))).publicKey;
    },
    stats: (): NoticeStats => counts,
  };
}

const isOfOwner = (check: string) => ownerCheckOf(check) !== undefined;

const newCounts = () => ({ sent: 0, failed: 0, retried: 0 });

/** Opens the target of a channel. Undefined if it is sealed under a master key that the settings do not contain. */
function targetOf(channel: NoticeChannel, sealer: Sealer | undefined): NoticeTarget | undefined {
  const opened = openSecret(sealer, channel.channelId, channel);
  return opened && (parseJsonBytes(opened) as NoticeTarget);
}
