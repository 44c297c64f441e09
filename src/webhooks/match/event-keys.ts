import type { EventFacts } from "./facts.ts";

export type Key = number | string;

/** Filter fields with lists of values, most selective first. A filter with several of them is indexed by the first. */
export const LIST_FIELDS = [
  "parent_hashes",
  "embedded_cast_hashes",
  "target_cast_hashes",
  "channel_ids",
  "embedded_cast_author_fids",
  "mentioned_fids",
  "parent_author_fids",
  "target_fids",
  "author_fids",
  "fids",
  "parent_urls",
  "root_parent_urls",
] as const;

/** Filter fields with a regular expression. */
export const REGEX_FIELDS = ["embeds", "text"] as const;

export type ListField = (typeof LIST_FIELDS)[number];
export type RegexField = (typeof REGEX_FIELDS)[number];

/** Values of an event for the filter fields of its kind. */
export interface EventKeys {
  readonly lists: Readonly<Partial<Record<ListField, readonly Key[]>>>;
  /** Texts; an expression matches if it matches one of them. */
  readonly subjects: Readonly<Partial<Record<RegexField, readonly string[]>>>;
  /** Compared with `exclude_author_fids`. */
  readonly authorFid: number | null;
  /** Undefined if the score has no effect. */
  readonly authorScore?: number | undefined;
}

const known = (key: Key | null): readonly Key[] => (key === null ? [] : [key]);

export function keysOf(facts: EventFacts): EventKeys {
  switch (facts.kind) {
    case "cast.created":
    case "cast.deleted":
      return {
        lists: {
          author_fids: [facts.authorFid],
          mentioned_fids: facts.mentionedFids,
          parent_urls: known(facts.parentUrl),
          root_parent_urls: known(facts.rootParentUrl),
          parent_hashes: known(facts.parentHash),
          parent_author_fids: known(facts.parentAuthorFid),
          embedded_cast_author_fids: facts.embeddedCasts.map(({ fid }) => fid),
          embedded_cast_hashes: facts.embeddedCasts.map(({ hash }) => hash),
        },
        subjects: { text: [facts.text], embeds: facts.embedUrls },
        authorFid: facts.authorFid,
        authorScore: facts.authorScore,
      };
    case "follow.created":
    case "follow.deleted":
      return {
        lists: { fids: [facts.fid], target_fids: [facts.targetFid] },
        subjects: {},
        authorFid: null,
      };
    case "reaction.created":
    case "reaction.deleted":
      return {
        lists: {
          fids: [facts.fid],
          target_fids: known(facts.targetFid),
          target_cast_hashes: known(facts.targetHash),
        },
        subjects: {},
        authorFid: null,
      };
    case "user.created":
    case "user.updated":
      return { lists: { fids: [facts.fid] }, subjects: {}, authorFid: null };
    default:
      return {
        lists: {
          channel_ids: facts.channelIds,
          fids: known(facts.fid),
          author_fids: known(facts.actorFid),
        },
        subjects: {},
        authorFid: null,
      };
  }
}
