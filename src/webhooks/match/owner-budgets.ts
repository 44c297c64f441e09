import { err, ok, type Result } from "../../lib/result.ts";
import { MAX_OWNER_PROGRAM_SIZE } from "./subscription-program.ts";

/** Time budget of matching for one owner's subscriptions. */
export interface MatchBudget {
  /** Per minute. */
  readonly minuteMs: number;
  /** Per event. */
  readonly eventMs: number;
}

/**
 * Only expressions that are designed to be slow take this long for one event. Ordinary ones take microseconds, and the largest word lists
 * take a tenth of it on their first run over the longest text.
 */
export const MATCH_BUDGET: MatchBudget = { minuteMs: 2_000, eventMs: 500 };

const WINDOW_MS = 60_000;
/**
 * A stopped subscription no longer counts against the owner's others, so that cheap ones continue. All of them together, including those
 * that were set again within the minute, never take more than this many budgets.
 */
const MAX_BUDGETS = 3;
/**
 * Limit of accounts without subscriptions. They are retained so that deleting and recreating a subscription does not renew the budget.
 */
const MAX_IDLE_ACCOUNTS = 10_000;

/** One subscription and its costs. */
export class Subscriber {
  /** Whether it was stopped because its owner exceeded the budget; it is no longer evaluated. */
  isOverBudget = false;
  readonly window = new Spending();
  readonly event = new Spending();

  /** @param onOver called once, with the reason for the owner. */
  constructor(
    readonly id: string,
    readonly account: OwnerAccount,
    readonly programSize: number,
    readonly isPreview: boolean,
    readonly onOver: (reason: string) => void,
  ) {}
}

/** Time spent within a period, such as a minute or an event; each period starts at zero. */
class Spending {
  #period = 0;
  #ms = 0;

  add(ms: number, period: number): void {
    this.#ms = this.in(period) + ms;
    this.#period = period;
  }

  in(period: number): number {
    return this.#period === period ? this.#ms : 0;
  }
}

/** Costs of one owner's subscriptions. */
class OwnerAccount {
  readonly subscribers = new Set<Subscriber>();
  /** Instructions of all expressions. */
  programSize = 0;
  windowStartMs = Number.NEGATIVE_INFINITY;
  window = 0;
  /** Totals of all subscriptions, and of those that are still evaluated. */
  readonly windowTotal = new Spending();
  readonly windowActive = new Spending();
  readonly eventTotal = new Spending();
  readonly eventActive = new Spending();
}

/**
 * Counts the cost of matching for each owner, and stops an owner's most expensive subscription when the owner exceeds its
 * budget. An owner is the fid of webhooks or the address of a stream's client.
 */
export class OwnerBudgets {
  readonly #budget: MatchBudget;
  readonly #nowMs: () => number;
  readonly #accounts = new Map<string, OwnerAccount>();
  #event = 0;
  /** Time of the first charge of the current event; undefined before it. */
  #eventNowMs: number | undefined;
  #over = 0;
  /** Number of accounts below which idle ones are not removed. */
  #idleUntil = MAX_IDLE_ACCOUNTS;

  /** @param nowMs the monotonic clock that measures costs. */
  constructor(budget: MatchBudget, nowMs: () => number) {
    this.#budget = budget;
    this.#nowMs = nowMs;
  }

  /** Number of subscriptions stopped so far, excluding previews. */
  get overBudget(): number {
    return this.#over;
  }

  get owners(): number {
    return this.#accounts.size;
  }

  /** The error says why the owner may not add the subscription; it may follow a field's name. */
  subscribe(input: {
    readonly id: string;
    readonly ownerId: string;
    readonly programSize: number;
    /** Whether it is a preview, which `overBudget` excludes. Default: false. */
    readonly isPreview?: boolean;
    readonly onOver: (reason: string) => void;
  }): Result<Subscriber, string> {
    const { id, ownerId, programSize, isPreview = false, onOver } = input;
    const account = this.#accountOf(ownerId);
    const sum = account.programSize + programSize;
    if (programSize > 0 && sum > MAX_OWNER_PROGRAM_SIZE) return err(ownerProgramFault(sum));
    const subscriber = new Subscriber(id, account, programSize, isPreview, onOver);
    account.subscribers.add(subscriber);
    account.programSize = sum;
    return ok(subscriber);
  }

  unsubscribe(subscriber: Subscriber): void {
    const { account } = subscriber;
    if (!account.subscribers.delete(subscriber)) return;
    account.programSize -= subscriber.programSize;
    if (!subscriber.isOverBudget) this.#exclude(subscriber);
  }

  /** Starts the accounting of another event. */
  startEvent(): void {
    this.#event += 1;
    this.#eventNowMs = undefined;
  }

  /** Charges a cost to a subscription. */
  charge(subscriber: Subscriber, ms: number): void {
    const { account } = subscriber;
    this.#eventNowMs ??= this.#nowMs();
    const nowMs = this.#eventNowMs;
    if (nowMs - account.windowStartMs >= WINDOW_MS) {
      account.windowStartMs = nowMs;
      account.window += 1;
    }
    subscriber.window.add(ms, account.window);
    subscriber.event.add(ms, this.#event);
    account.windowTotal.add(ms, account.window);
    account.eventTotal.add(ms, this.#event);
    if (!subscriber.isOverBudget) {
      account.windowActive.add(ms, account.window);
      account.eventActive.add(ms, this.#event);
    }
    const reason = this.#excess(account);
    if (reason === undefined) return;
    const costliest = costliestOf(account);
    if (costliest) this.refuse(costliest, reason);
  }

  /** Stops the evaluation of a subscription. */
  refuse(subscriber: Subscriber, reason: string): void {
    if (subscriber.isOverBudget) return;
    subscriber.isOverBudget = true;
    this.#exclude(subscriber);
    if (!subscriber.isPreview) this.#over += 1;
    subscriber.onOver(reason);
  }

  #excess({ window, windowTotal, windowActive, eventTotal, eventActive }: OwnerAccount): string | undefined {
    const { minuteMs, eventMs } = this.#budget;
    if (windowActive.in(window) > minuteMs || windowTotal.in(window) > MAX_BUDGETS * minuteMs)
      return `its owner's regular expressions took more than ${minuteMs} ms of matching within a minute, and its own the most`;
    if (eventActive.in(this.#event) > eventMs || eventTotal.in(this.#event) > MAX_BUDGETS * eventMs)
      return `its owner's regular expressions took more than ${eventMs} ms of matching for one event, and its own the most`;
    return undefined;
  }

  #exclude({ account, window, event }: Subscriber): void {
    account.windowActive.add(-window.in(account.window), account.window);
    account.eventActive.add(-event.in(this.#event), this.#event);
  }

  #accountOf(ownerId: string): OwnerAccount {
    const known = this.#accounts.get(ownerId);
    if (known) return known;
    this.#removeIdle();
    const account = new OwnerAccount();
    this.#accounts.set(ownerId, account);
    return account;
  }

  #removeIdle(): void {
    if (this.#accounts.size < this.#idleUntil) return;
    for (const [ownerId, { subscribers }] of this.#accounts)
      if (subscribers.size === 0) this.#accounts.delete(ownerId);
    this.#idleUntil = this.#accounts.size + MAX_IDLE_ACCOUNTS;
  }
}

/** Returns the text for an owner with too many expressions; it may follow a field's name. */
export function ownerProgramFault(size: number): string {
  return `the regular expressions of its owner's active subscriptions compile to ${size} instructions, more than ${MAX_OWNER_PROGRAM_SIZE}`;
}

function costliestOf({ subscribers, window }: OwnerAccount): Subscriber | undefined {
  let costliest: Subscriber | undefined;
  for (const subscriber of subscribers) {
    if (subscriber.isOverBudget) continue;
    if (costliest === undefined || subscriber.window.in(window) > costliest.window.in(window))
      costliest = subscriber;
  }
  return costliest;
}
