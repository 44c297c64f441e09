import { MAX_OWNER_PROGRAM_SIZE } from "./subscription-program.ts";

/** How much time matching may spend on one owner's subscriptions. */
export interface MatchBudget {
  /** Within a minute. */
  readonly minuteMs: number;
  /** For one event. */
  readonly eventMs: number;
}

/**
 * One event takes so long of an owner whose expressions are made for that, and of nobody else: ordinary ones take
 * microseconds, and the largest lists of words a tenth of it the first time that they meet the longest text.
 */
export const EVENT_BUDGET_MS = 500;

const WINDOW_MS = 60_000;
/**
 * A subscription that was over the budget no longer counts against its owner's others, so that the cheap ones go on. All
 * together, with those that came back within the minute, never take more than so many budgets.
 */
const MAX_BUDGETS = 3;
/** Accounts that are kept although nothing is subscribed, so that a delete and a create do not make a new budget. */
const MAX_IDLE_ACCOUNTS = 10_000;

/** One subscription, as its costs are counted. */
export class Subscriber {
  /** Whether it is over its owner's budget; then it is not evaluated any more. */
  isOverBudget = false;
  readonly window = new Spending();
  readonly event = new Spending();

  /** @param onOver told once, with the reason for its owner. */
  constructor(
    readonly id: string,
    readonly account: OwnerAccount,
    readonly programSize: number,
    readonly onOver: (reason: string) => void,
  ) {}
}

/** What was spent within a period, such as a minute or an event; it starts anew with the next period. */
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

/** What the subscriptions of one owner cost. */
class OwnerAccount {
  readonly subscribers = new Set<Subscriber>();
  /** Instructions of all of them. */
  programSize = 0;
  windowStartMs = Number.NEGATIVE_INFINITY;
  window = 0;
  /** Of all subscriptions, and of those that are still evaluated. */
  readonly windowTotal = new Spending();
  readonly windowActive = new Spending();
  readonly eventTotal = new Spending();
  readonly eventActive = new Spending();
}

/**
 * Counts what matching costs each owner, and takes an owner's dearest subscription out of the evaluation when the owner is
 * over its budget. An owner is whoever one budget is for: the fid of webhooks, the address of a stream's client.
 */
export class OwnerBudgets {
  readonly #budget: MatchBudget;
  readonly #nowMs: () => number;
  readonly #accounts = new Map<string, OwnerAccount>();
  #event = 0;
  /** Undefined until the event costs somebody something. */
  #eventNowMs: number | undefined;
  #over = 0;
  /** Accounts up to which none is looked at for being idle. */
  #idleUntil = MAX_IDLE_ACCOUNTS;

  /** @param nowMs a monotonic clock, the one that costs are measured by. */
  constructor(budget: MatchBudget, nowMs: () => number) {
    this.#budget = budget;
    this.#nowMs = nowMs;
  }

  /** Subscriptions that were over a budget so far. */
  get overBudget(): number {
    return this.#over;
  }

  get owners(): number {
    return this.#accounts.size;
  }

  /** @returns why the owner may not have the subscription, if so. */
  subscribe(given: {
    readonly id: string;
    readonly ownerId: string;
    readonly programSize: number;
    readonly onOver: (reason: string) => void;
  }): Subscriber | string {
    const { id, ownerId, programSize, onOver } = given;
    const account = this.#accountOf(ownerId);
    const sum = account.programSize + programSize;
    if (programSize > 0 && sum > MAX_OWNER_PROGRAM_SIZE) return ownerProgramFault(sum);
    const subscriber = new Subscriber(id, account, programSize, onOver);
    account.subscribers.add(subscriber);
    account.programSize = sum;
    return subscriber;
  }

  unsubscribe(subscriber: Subscriber): void {
    const { account } = subscriber;
    if (!account.subscribers.delete(subscriber)) return;
    account.programSize -= subscriber.programSize;
    if (!subscriber.isOverBudget) this.#exclude(subscriber);
  }

  /** Costs that follow are those of another event. */
  startEvent(): void {
    this.#event += 1;
    this.#eventNowMs = undefined;
  }

  /** Counts what a subscription cost. */
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
    const dearest = costliestOf(account);
    if (dearest) this.refuse(dearest, reason);
  }

  /** Takes a subscription out of the evaluation. */
  refuse(subscriber: Subscriber, reason: string): void {
    if (subscriber.isOverBudget) return;
    subscriber.isOverBudget = true;
    this.#exclude(subscriber);
    this.#over += 1;
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
    this.#forgetIdle();
    const account = new OwnerAccount();
    this.#accounts.set(ownerId, account);
    return account;
  }

  #forgetIdle(): void {
    if (this.#accounts.size < this.#idleUntil) return;
    for (const [ownerId, { subscribers }] of this.#accounts)
      if (subscribers.size === 0) this.#accounts.delete(ownerId);
    this.#idleUntil = this.#accounts.size + MAX_IDLE_ACCOUNTS;
  }
}

/** Why an owner's expressions are too many, in words behind a field's name or on their own. */
export function ownerProgramFault(size: number): string {
  return `the regular expressions of its owner's active subscriptions compile to ${size} instructions, more than ${MAX_OWNER_PROGRAM_SIZE}`;
}

function costliestOf({ subscribers, window }: OwnerAccount): Subscriber | undefined {
  let dearest: Subscriber | undefined;
  for (const subscriber of subscribers) {
    if (subscriber.isOverBudget) continue;
    if (dearest === undefined || subscriber.window.in(window) > dearest.window.in(window))
      dearest = subscriber;
  }
  return dearest;
}
