import type { EncodedRecord } from "../../src/ingest/record.ts";
import { encodedRecord, readNetwork } from "../demo/records.ts";

/**
 * A few records of every kind from the demo network, in an order in which all of them can be merged: the accounts of the
 * fids with the most kinds of messages, then up to `perType` messages of each type of theirs.
 */
export function mixedRecords({ fids: fidCount = 3, perType = 2 } = {}): EncodedRecord[] {
  const { records, messages } = readNetwork();
  const types = new Map<number, Set<number>>();
  for (const { data } of messages) types.set(data.fid, (types.get(data.fid) ?? new Set()).add(data.type));
  const fids = [...types]
    .sort(([, a], [, b]) => b.size - a.size)
    .slice(0, fidCount)
    .map(([fid]) => fid);
  const taken = new Map<string, number>();
  let next = 0;
  return records
    .filter((record) => {
      if (record.$case !== "message") return fids.includes(record.value.fid);
      const { fid, type } = messages[next++]?.data ?? { fid: 0, type: 0 };
      const count = taken.get(`${fid} ${type}`) ?? 0;
      if (!fids.includes(fid) || count === perType) return false;
      taken.set(`${fid} ${type}`, count + 1);
      return true;
    })
    .map(encodedRecord);
}
