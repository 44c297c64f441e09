import type { FarcasterNetwork, MessageData, MessageType } from "../protocol/wire/generated/message.ts";
import type { Random } from "./random.ts";

/** The values that are known only when a message is signed. */
export interface Signing {
  readonly unixSecs: number;
  readonly network: FarcasterNetwork;
  /** Returns the hash of a message that was signed before this one. */
  hashOf(message: PlannedMessage): Uint8Array;
}

/**
 * A message of the demo week before it is signed. Plans count back from the anchor and refer to each other as objects,
 * so that one plan serves every anchor: times, and the hashes that depend on them, are filled in at signing.
 */
export interface PlannedMessage {
  readonly fid: number;
  readonly type: MessageType;
  /** 0 is the anchor, WEEK_SECS the start of the week. */
  readonly secsBeforeAnchor: number;
  readonly body: (signing: Signing) => NonNullable<MessageData["body"]>;
}

export const HOUR_SECS = 3600;
export const DAY_SECS = 86_400;
export const WEEK_SECS = 7 * DAY_SECS;

const LEAST_DELAY_SECS = 15;

/** A time after another, on average `meanDelaySecs` later; undefined when it would be after the anchor. */
export function somewhatLater(
  secsBeforeAnchor: number,
  meanDelaySecs: number,
  random: Random,
): number | undefined {
  const later =
    secsBeforeAnchor - LEAST_DELAY_SECS - Math.floor(-Math.log(1 - random.next()) * meanDelaySecs);
  return later >= 0 ? later : undefined;
}
