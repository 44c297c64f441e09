import type { ChannelEventKind } from "../event-kind.ts";

/** The new role of an fid in a channel; null if it has none. */
export type ChangedRole = "moderator" | "member" | null;

/** A change of a registered channel, as stored in the event log. Hashes are `0x` and lower-case hex. */
export interface ChannelChange {
  readonly kind: ChannelEventKind;
  /** The channel's id in the protocol. */
  readonly channelId: `0x${string}`;
  /** The channel's public id in the API. */
  readonly id: string;
  /** The fid concerned: the owner, the member, the author of the cast, or the follower. Null if it is not known. */
  readonly fid: number | null;
  /** The fid that signed the message that caused it; null for an event of the registry. */
  readonly actorFid: number | null;
  /** The time of the message or of the event of the registry, in Unix seconds. */
  readonly timestamp: number;
  /** For `channel.updated`: the changed fields of the Channel object. */
  readonly changed?: readonly string[];
  /** For members and moderators. */
  readonly role?: ChangedRole;
  readonly previousRole?: ChangedRole;
  /** For pins and moderated casts: the cast. */
  readonly castHash?: `0x${string}`;
  /** For moderated casts. */
  readonly isHidden?: boolean;
}

export function encodeChannelChange(change: ChannelChange): Uint8Array {
  return Buffer.from(JSON.stringify(change));
}

/** Decodes what `encodeChannelChange` wrote. */
export function decodeChannelChange(bytes: Uint8Array): ChannelChange {
  return JSON.parse(Buffer.from(bytes).toString("utf8"));
}
