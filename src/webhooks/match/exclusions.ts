import type { BannedPair } from "../../moderation/moderation-store.ts";
import type { Subscription } from "../subscription.ts";
import type { EventFacts } from "./facts.ts";

/** Whose events a subscriber leaves out. */
export interface Excluder {
  readonly fids: ReadonlySet<number>;
  /** The owner whose bans apply; undefined if none do. */
  readonly bansOf: number | undefined;
}

/** Returns which of some fids are banned by which of some owners, as pairs. */
export type BannedAmong = (
  ownerFids: readonly number[],
  fids: readonly number[],
) => Promise<readonly BannedPair[]>;

/** Returns the users that a subscription excludes; undefined if none. @param ownerFid undefined if there are no bans. */
export function excluderOf({ exclude }: Subscription, ownerFid: number | undefined): Excluder | undefined {
  const { fids = [], bans = false } = exclude ?? {};
  const bansOf = bans ? ownerFid : undefined;
  return fids.length === 0 && bansOf === undefined ? undefined : { fids: new Set(fids), bansOf };
}

/** Returns who acts in an event: the author, follower, reactor, changed user, or signer of a channel's change; undefined if unknown. */
export function actorOf(facts: EventFacts): number | undefined {
  if ("authorFid" in facts) return facts.authorFid;
  return ("actorFid" in facts ? facts.actorFid : facts.fid) ?? undefined;
}

/**
 * Removes the subscribers that exclude the actors of the events that they match. Bans are read at this moment, because no thread keeps a
 * list of them.
 *
 * @param matches the subscribers of each event
 */
export async function withoutExcluded<Subscriber>(
  matches: readonly (readonly Subscriber[])[],
  events: readonly EventFacts[],
  excluder: (subscriber: Subscriber) => Excluder | undefined,
  bannedAmong: BannedAmong,
): Promise<readonly (readonly Subscriber[])[]> {
  const owners = new Set<number>();
  const acting = new Set<number>();
  const actors = events.map(actorOf);
  for (const [at, subscribers] of matches.entries()) {
    const actor = actors[at];
    for (const subscriber of subscribers) {
      const bansOf = excluder(subscriber)?.bansOf;
      if (bansOf === undefined || actor === undefined) continue;
      owners.add(bansOf);
      acting.add(actor);
    }
  }
  const pairs = owners.size === 0 ? [] : await bannedAmong([...owners], [...acting]);
  const banned = new Set(pairs.map(({ ownerFid, fid }) => `${ownerFid} ${fid}`));
  return matches.map((subscribers, at) => {
    const actor = actors[at];
    return subscribers.filter((subscriber) => {
      const found = excluder(subscriber);
      return (
        !found || actor === undefined || !(found.fids.has(actor) || banned.has(`${found.bansOf} ${actor}`))
      );
    });
  });
}
