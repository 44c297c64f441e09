import { CandidatePacker } from "../../src/ingest/bulk/spool-candidates.ts";
import type { ValidatedRecords } from "../../src/ingest/bulk/verify/verifier.ts";
import { decodeRecord, type EncodedRecord } from "../../src/ingest/record.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";

/** Returns records as a verifier would that finds all of them valid. */
export function unverifiedRecords(records: readonly EncodedRecord[]): ValidatedRecords {
  const packer = new CandidatePacker(FarcasterNetwork.FARCASTER_NETWORK_MAINNET, records.length);
  for (const record of records) {
    const decoded = decodeRecord(record);
    packer.add(decoded.ok && decoded.value.kind === "message" ? decoded.value.message : undefined);
  }
  return { refusals: new Map(), candidates: [packer.finish()] };
}
