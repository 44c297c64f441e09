import type { EventFacts } from "../matching/facts.ts";
import type { Matcher } from "../matching/matcher.ts";
import type { SubscriptionChanges } from "../state/deliveries.ts";

/** Who wants which events, as of the last changes that were applied. */
export class Subscriptions {
  readonly #matcher: Matcher;
  readonly #createdAt = new Map<string, number>();

  constructor(matcher: Matcher) {
    this.#matcher = matcher;
  }

  /** Answers the webhooks some of whose regular expressions do not pass any more; those match nothing. */
  apply({ changed, deleted }: SubscriptionChanges): string[] {
    const broken: string[] = [];
    for (const { webhookId, active, subscription, createdAt } of changed) {
      if (active) {
        if (this.#matcher.set(webhookId, subscription)) broken.push(webhookId);
        this.#createdAt.set(webhookId, createdAt);
      } else this.#drop(webhookId);
    }
    for (const webhookId of deleted) this.#drop(webhookId);
    return broken;
  }

  /** The webhooks that are to hear of an event: those that it matches and that were there when it was applied. */
  receivers(facts: EventFacts, appliedAt: number): string[] {
    return this.#matcher.match(facts).filter((id) => (this.#createdAt.get(id) ?? 0) <= appliedAt);
  }

  get size(): number {
    return this.#createdAt.size;
  }

  #drop(webhookId: string): void {
    this.#matcher.delete(webhookId);
    this.#createdAt.delete(webhookId);
  }
}
