import type { UnknownRecord } from "../../../db/index/unknown-records.ts";
import { SignedBlock } from "../../../protocol/wire/generated/certificate.ts";
import { SnapshotPage } from "../../../protocol/wire/generated/snapshot.ts";
import { EncodedBlockEvents, FollowedBlock } from "../../../protocol/wire/generated/upstream.ts";
import type { Codec } from "../connection.ts";
import { BoundedReader } from "./bounded-reader.ts";
import { unknownBlockEvents } from "./unknown-records.ts";

/** A response that stays encoded. */
export const ENCODED: Codec<Uint8Array> = {
  encode: (bytes) => ({ finish: () => bytes }),
  decode: ({ encoded }) => encoded.slice(),
};

/** A block of shard 0, with what its certificate binds. */
export interface ReceivedBlock extends FollowedBlock {
  readonly signed: SignedBlock;
  /** Its events of types that this program does not know. */
  readonly unknown: readonly UnknownRecord[];
}

export const RECEIVED_BLOCK: Codec<ReceivedBlock> = {
  encode: (block) => FollowedBlock.encode(block),
  decode: (reader) => {
    const { encoded } = reader;
    const block = FollowedBlock.decode(reader);
    const number = block.header?.height?.blockNumber ?? 0;
    const { events } = EncodedBlockEvents.decode(new BoundedReader(encoded));
    const unknown = unknownBlockEvents(events, number);
    return { ...block, signed: SignedBlock.decode(new BoundedReader(encoded)), unknown };
  },
};

/** A page of the reference node has at most 1,000 records, some of which may be a kilobyte or more. */
const MAX_SNAPSHOT_PAGE_BYTES = 32 * 1024 * 1024;

export const SNAPSHOT_PAGE: Codec<SnapshotPage> = {
  encode: (page) => SnapshotPage.encode(page),
  decode: (reader) => decodeSnapshotPage(reader),
};

/** @throws RangeError for a page that is too large. */
export function decodeSnapshotPage(reader: BoundedReader, maxBytes = MAX_SNAPSHOT_PAGE_BYTES): SnapshotPage {
  if (reader.len > maxBytes) throw new RangeError(`a page of a snapshot has ${reader.len} bytes`);
  return SnapshotPage.decode(reader);
}
