import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { SubscriptionChanges } from "../store/delivery-publications.ts";
import { type BannedAmong, type Excluder, excluderOf, withoutExcluded } from "./exclusions.ts";
import type { EventFacts } from "./facts.ts";
import type { SubscriptionEntry, SubscriptionRefusal } from "./match-service.ts";
import type { MatchClient } from "./rpc.ts";

/** The subscriptions of all active webhooks, as of the last applied changes. */
export class Subscriptions {
  readonly #matching: MatchClient;
  readonly #clock: Clock;
  readonly #bannedAmong: BannedAmong;
  readonly #webhooks = new Map<
    string,
    { readonly createdAt: number; readonly excluder: Excluder | undefined }
  >();

  /** @param matching a client that only this object uses. */
  constructor(matching: MatchClient, clock: Clock, bannedAmong: BannedAmong) {
    this.#matching = matching;
    this.#clock = clock;
    this.#bannedAmong = bannedAmong;
  }

  get size(): number {
    return this.#webhooks.size;
  }

  async apply({ changed, deleted }: SubscriptionChanges): Promise<void> {
    const set: SubscriptionEntry[] = [];
    const removed = [...deleted];
    for (const { webhookId, ownerFid, active, subscription } of changed) {
      if (active) set.push({ id: webhookId, ownerId: `fid:${ownerFid}`, subscription });
      else removed.push(webhookId);
    }
    if (set.length + removed.length > 0) await this.#matching.update({ set, removed });
    for (const webhookId of removed) this.#webhooks.delete(webhookId);
    for (const { webhookId, ownerFid, active, subscription, createdAt } of changed)
      if (active) this.#webhooks.set(webhookId, { createdAt, excluder: excluderOf(subscription, ownerFid) });
  }

  /**
   * Returns the receivers of the first events of a list: webhooks that match, do not exclude the actor, and existed when the event was
   * applied. `refused` lists webhooks that were not evaluated and must be deactivated first.
   */
  async receivers(events: readonly { readonly facts: EventFacts; readonly appliedAt: number }[]): Promise<{
    readonly receivers: readonly (readonly string[])[];
    readonly refused: readonly SubscriptionRefusal[];
  }> {
    const facts = events.map((event) => event.facts);
    const { matches, refused } = await this.#matching.match(facts);
    const now = nowSecs(this.#clock);
    const wanted = await withoutExcluded(
      matches,
      facts,
      (id) => this.#webhooks.get(id)?.excluder,
      this.#bannedAmong,
    );
    const receivers = wanted.map((ids, at) =>
      ids.filter((id) => {
        const createdAt = this.#webhooks.get(id)?.createdAt ?? 0;
        // A webhook with a future time was created before the clock was set back, and gets current events.
        return createdAt <= (events[at]?.appliedAt ?? 0) || createdAt > now;
      }),
    );
    return { receivers, refused };
  }
}
