import type { ChannelEventKind } from "../event-kind.ts";

/** What changed of a channel's roles. Null for an fid that has none. */
export type ChangedRole = "moderator" | "member" | null;

/** A change of a registered channel, as the log of events keeps it. Hashes are `0x` and lower-case hex. */
export interface ChannelChange {
  readonly kind: ChannelEventKind;
  /** The id of the protocol. */
  readonly channelId: `0x${string}`;
  /** What the API calls the channel. */
  readonly id: string;
  /** Whom it concerns: the owner, the member, the author of the cast, or the follower. Null where no one is known. */
  readonly fid: number | null;
  /** Who signed the message that caused it; null for an event of the registry. */
  readonly actorFid: number | null;
  /** The time of the message or of the event of the registry, in unix seconds. */
  readonly timestamp: number;
  /** Of `channel.updated`: the changed fields of the Channel object. */
  readonly changed?: readonly string[];
  /** Of members and moderators. */
  readonly role?: ChangedRole;
  readonly previousRole?: ChangedRole;
  /** Of pins and moderated casts: the cast. */
  readonly castHash?: `0x${string}`;
  /** Of moderated casts. */
  readonly isHidden?: boolean;
}

export function encodeChannelChange(change: ChannelChange): Uint8Array {
  return Buffer.from(JSON.stringify(change));
}

/** Reads what `encodeChannelChange` wrote. */
export function decodeChannelChange(bytes: Uint8Array): ChannelChange {
  return JSON.parse(Buffer.from(bytes).toString("utf8"));
}
