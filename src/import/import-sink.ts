import type { IngestEngine } from "../ingest/engine.ts";
import { decodeRecord } from "../ingest/record.ts";
import type { Verifier } from "../ingest/verify/verifier.ts";
import type { ImportSink } from "./run-import.ts";

/**
 * Returns a sink that validates and merges the records of a file as every other input. What only Ethereum can confirm
 * (ENS names, contract wallets) and the age limit of storage lends are not checked: the operator vouches for the file.
 */
export function createImportSink(options: { engine: IngestEngine; verifier: Verifier }): ImportSink {
  const { engine, verifier } = options;
  return {
    validate: (records) => verifier.validateRecords(records),
    async apply(records, positions) {
      const decoded = records.map((record) => {
        const result = decodeRecord(record);
        if (!result.ok) throw new Error(`a valid record cannot be decoded: ${result.error.reason}`);
        return result.value;
      });
      return engine.applyResumable(decoded, positions, { isHistory: true });
    },
  };
}
