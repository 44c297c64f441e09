import { ok, type Result } from "../../lib/result.ts";
import type { JsonObject } from "../../management/fields.ts";
import { type Refusal, refused } from "../../management/refusal.ts";
import { type ChannelView, channelRefusal, UNAUTHORIZED } from "../../protocol/channels/authority.ts";
import type { ChannelUpdateBody } from "../../protocol/wire/generated/message.ts";
import { refuse, type SignerRefusal } from "../../signers/refusal.ts";
import type { UnsignedBody } from "../rpc.ts";
import { NO_SUCH_CHANNEL, readChannelName } from "./fields.ts";

/** The lookups for composing messages of channels. */
export interface ChannelActLookups {
  /** Whether channels are part of the network's protocol. */
  readonly areActive: boolean;
  /** Returns the id of a registered channel by any of its names. */
  channelIdOf(name: string): Uint8Array | undefined;
  viewOf(channelId: Uint8Array): ChannelView;
  /** Returns the settings of a channel, and the number of the event that set them; null for a channel without any. */
  settingsOf(channelId: Uint8Array): {
    readonly settings: ChannelUpdateBody | undefined;
    readonly basis: number | null;
  };
}

/** A write in a channel by a user. */
export interface ChannelAct {
  readonly lookups: ChannelActLookups;
  /** The fields of the request. */
  readonly fields: JsonObject;
  /** The user that the signer writes for. */
  readonly fid: number;
  /** Whether the index may be out of date. Roles are not checked in that case. */
  readonly isStale: boolean;
}

export type Composed = Result<readonly UnsignedBody[], Refusal | SignerRefusal>;

const NOT_ACTIVE = "not implemented: channels are not part of this network's protocol yet";

/** Finds the channel that a request names, and the data that decides who may act in it. */
export function findChannel({
  fields,
  lookups,
}: ChannelAct): Result<{ readonly channelId: Uint8Array; readonly view: ChannelView }, Refusal> {
  const name = readChannelName(fields);
  if (!name.ok) return name;
  if (!lookups.areActive) return refused("notImplemented", NOT_ACTIVE);
  const channelId = lookups.channelIdOf(name.value);
  if (!channelId) return refused("notFound", NO_SUCH_CHANNEL);
  return ok({ channelId, view: lookups.viewOf(channelId) });
}

/**
 * Returns the message of a write, or refuses what the network would refuse, for the same reason. The network itself refuses silently,
 * because shard 0 has no stream of refusals.
 */
export function admitted({ fid, isStale }: ChannelAct, view: ChannelView, body: UnsignedBody): Composed {
  const reason = isStale ? undefined : channelRefusal({ fid, body: body.body }, view);
  if (reason === undefined) return ok([body]);
  return refuse(reason === UNAUTHORIZED ? "forbidden" : "conflict", reason);
}
