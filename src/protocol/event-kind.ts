/** The kinds of changes of registered channels. */
export const CHANNEL_EVENT_KINDS = [
  "channel.created",
  "channel.updated",
  "channel.member.added",
  "channel.member.removed",
  "channel.member.banned",
  "channel.member.unbanned",
  "channel.moderator.added",
  "channel.moderator.removed",
  "channel.pinned",
  "channel.unpinned",
  "channel.follow.created",
  "channel.follow.deleted",
  "cast.moderated",
] as const;

export type ChannelEventKind = (typeof CHANNEL_EVENT_KINDS)[number];

/** The kinds of changes that webhooks can subscribe to. */
export type EventKind =
  | "cast.created"
  | "cast.deleted"
  | "follow.created"
  | "follow.deleted"
  | "reaction.created"
  | "reaction.deleted"
  | "user.created"
  | "user.updated"
  | ChannelEventKind;

const channelKinds: ReadonlySet<string> = new Set(CHANNEL_EVENT_KINDS);

export function isChannelEvent(kind: string): kind is ChannelEventKind {
  return channelKinds.has(kind);
}
