import { isChannelMessage } from "../protocol/channels/slots.ts";
import type { SignedMessage } from "../protocol/message/signed-message.ts";
import type { IndexWatch } from "./index-watch.ts";

/** After this many blocks of shard 0 without it, an accepted message of a channel counts as refused: shard 0 reports no refusals. */
export const MAX_BLOCKS_TO_MERGE = 100;

/** Returns the block of shard 0 at which a message was accepted; undefined for one that shard 0 does not refuse in silence. */
export function acceptedBlockOf(
  index: Pick<IndexWatch, "shardZeroBlock">,
  { data }: SignedMessage,
): number | undefined {
  return isChannelMessage(data) ? index.shardZeroBlock() : undefined;
}
