import type { IngestEngine, MergeOutcome } from "../ingest/engine.ts";
import { decodeRecord, type IngestRecord, validateRecord } from "../ingest/record.ts";
import { err, type Result } from "../lib/result.ts";
import type { Rejection } from "../protocol/rejection.ts";
import type { FarcasterNetwork } from "../protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { ImportSink } from "./run-import.ts";

/**
 * Returns a sink that validates and merges the records of a file as every other input. What only Ethereum can confirm
 * (ENS names, contract wallets) and the age limit of storage lends are not checked: the operator vouches for the file.
 */
export function createImportSink(options: {
  engine: IngestEngine;
  network: FarcasterNetwork;
  clock: Clock;
}): ImportSink {
  const { engine, network, clock } = options;
  return {
    async apply(records, positions) {
      const rules = { network, nowUnixSecs: nowSecs(clock), isHistory: true };
      const validated = records.map((record): Result<IngestRecord, Rejection> => {
        const decoded = decodeRecord(record);
        const refusal = decoded.ok ? validateRecord(decoded.value, rules) : undefined;
        return refusal ? err(refusal) : decoded;
      });
      const valid = validated.flatMap((record) => (record.ok ? [record.value] : []));
      const outcomes = engine.applyResumable(valid, positions, { isHistory: true });
      let next = 0;
      return validated.map((record): MergeOutcome => (record.ok ? outcomes[next++] : record.error));
    },
  };
}
