import type { BulkBuild } from "../../src/db/index/bulk/bulk-state.ts";
import { openBulkBuild } from "../../src/db/index/bulk/open-bulk-build.ts";
import { packMessages } from "../../src/db/index/bulk/packed-messages.ts";
import type { IndexDatabase } from "../../src/db/index/database.ts";
import { splitEncoded } from "../../src/db/index/messages/split.ts";
import { getPosition, putPosition } from "../../src/db/index/positions.ts";
import { encodeMessage, type SignedMessage } from "../../src/protocol/message/signed-message.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";

const NETWORK = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
const SPOOLED = "test spooled";

/** A bulk build of given messages that continues where the index is, as often as it is called. */
export interface BulkFill {
  readonly bulk: BulkBuild;
  /** Messages that are in the spool. */
  readonly spooled: number;
  /** Does the next transaction. Returns whether there is more to do. */
  next(): boolean;
}

/** @param perBatch messages of a transaction of the spool. */
export function bulkFill(db: IndexDatabase, messages: readonly SignedMessage[], perBatch = 25): BulkFill {
  const bulk = openBulkBuild(db, { rowsPerStep: 40, rowsPerSort: 60 });
  const spooled = () => getPosition(db, SPOOLED) ?? 0;
  return {
    bulk,
    get spooled() {
      return spooled();
    },
    next() {
      const from = spooled();
      if (bulk.phase !== "spooling" || from >= messages.length) return bulk.step() !== undefined;
      const batch = messages.slice(from, from + perBatch);
      const packed = packMessages(batch.map((one) => splitEncoded(encodeMessage(one), NETWORK)));
      bulk.append([packed], () => putPosition(db, SPOOLED, from + batch.length));
      return true;
    },
  };
}
