import { RE2JS } from "re2js";
import type { EventFacts } from "../../src/webhooks/match/facts.ts";
import type { Matcher } from "../../src/webhooks/match/matcher.ts";
import type { Subscription } from "../../src/webhooks/subscription.ts";

interface AnyFilter {
  readonly [field: string]: unknown;
}

/** A slow matcher that shares as little code as possible with the fast one. */
const findIn = (regex: RE2JS, subject: string) => regex.matcher(subject).find();

/** Applies the rules of subscriptions literally: every subscription is tested against every event, field by field. */
export function plainMatcher(isFoundIn: (regex: RE2JS, subject: string) => boolean = findIn): Matcher {
  const subscriptions = new Map<string, Subscription>();
  const compiled = new Map<string, RE2JS>();
  const isFound = (source: unknown, subjects: readonly string[]) => {
    const regex = compiled.get(String(source)) ?? RE2JS.compile(String(source));
    compiled.set(String(source), regex);
    return subjects.some((subject) => isFoundIn(regex, subject));
  };

  function holds(field: string, wanted: unknown, facts: EventFacts): boolean {
    const isAmong = (...values: unknown[]) => (wanted as unknown[]).some((entry) => values.includes(entry));
    switch (facts.kind) {
      case "cast.created":
      case "cast.deleted":
        if (field === "author_fids") return isAmong(facts.authorFid);
        if (field === "mentioned_fids") return isAmong(...facts.mentionedFids);
        if (field === "parent_urls") return isAmong(facts.parentUrl);
        if (field === "root_parent_urls") return isAmong(facts.rootParentUrl);
        if (field === "parent_hashes") return isAmong(facts.parentHash);
        if (field === "parent_author_fids") return isAmong(facts.parentAuthorFid);
        if (field === "embedded_cast_author_fids")
          return isAmong(...facts.embeddedCasts.map(({ fid }) => fid));
        if (field === "embedded_cast_hashes") return isAmong(...facts.embeddedCasts.map(({ hash }) => hash));
        if (field === "text") return isFound(wanted, [facts.text]);
        if (field === "embeds") return isFound(wanted, facts.embedUrls);
        break;
      case "follow.created":
      case "follow.deleted":
        if (field === "fids") return isAmong(facts.fid);
        if (field === "target_fids") return isAmong(facts.targetFid);
        break;
      case "reaction.created":
      case "reaction.deleted":
        if (field === "fids") return isAmong(facts.fid);
        if (field === "target_fids") return isAmong(facts.targetFid);
        if (field === "target_cast_hashes") return isAmong(facts.targetHash);
        break;
      case "user.created":
      case "user.updated":
        if (field === "fids") return isAmong(facts.fid);
        break;
      default:
        if (field === "channel_ids") return isAmong(...facts.channelIds);
        if (field === "fids") return facts.fid !== null && isAmong(facts.fid);
        if (field === "author_fids") return facts.actorFid !== null && isAmong(facts.actorFid);
    }
    throw new Error(`${facts.kind} has no field ${field}`);
  }

  function takes(filter: AnyFilter | undefined, facts: EventFacts): boolean {
    if (filter === undefined) return false;
    const { match, exclude_author_fids: excluded, ...fields } = filter;
    if (excluded && "authorFid" in facts && (excluded as number[]).includes(facts.authorFid)) return false;
    const conditions = Object.entries(fields);
    if (conditions.length === 0) return true;
    const results = conditions.map(([field, expected]) => holds(field, expected, facts));
    return match === "any" ? results.includes(true) : !results.includes(false);
  }

  return {
    set(webhookId, subscription) {
      subscriptions.set(webhookId, subscription);
      return undefined;
    },
    delete: (webhookId) => void subscriptions.delete(webhookId),
    match: (facts) =>
      [...subscriptions].flatMap(([webhookId, subscription]) =>
        takes(subscription[facts.kind] as AnyFilter | undefined, facts) ? [webhookId] : [],
      ),
  };
}
