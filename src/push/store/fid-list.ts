/** Fids in ascending order, as base64 of the differences between them: a list of many users takes one or two bytes per fid. */
export type FidList = string;

const BYTES_PER_FID = 8;
const MORE = 0x80;

export function packFids(fids: readonly number[]): FidList {
  const sorted = Float64Array.from(new Set(fids)).sort();
  const bytes = new Uint8Array(sorted.length * BYTES_PER_FID);
  let end = 0;
  let before = -1;
  for (const fid of sorted) {
    let rest = fid - before - 1;
    for (; rest >= MORE; rest = Math.floor(rest / MORE)) bytes[end++] = (rest % MORE) | MORE;
    bytes[end++] = rest;
    before = fid;
  }
  return bytes.subarray(0, end).toBase64();
}

/** Returns a test for whether an fid is in the list. It needs 8 bytes of memory per fid of the list. */
export function fidTest(list: FidList): (fid: number) => boolean {
  const fids = unpacked(Uint8Array.fromBase64(list));
  return (fid) => {
    let from = 0;
    let to = fids.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((fids[middle] ?? 0) < fid) from = middle + 1;
      else to = middle;
    }
    return fids[from] === fid;
  };
}

function unpacked(bytes: Uint8Array): Float64Array {
  const fids = new Float64Array(bytes.reduce((count, byte) => count + (byte < MORE ? 1 : 0), 0));
  let at = 0;
  let before = -1;
  let distance = 0;
  let unit = 1;
  for (const byte of bytes) {
    distance += (byte % MORE) * unit;
    unit *= MORE;
    if (byte >= MORE) continue;
    before += distance + 1;
    fids[at++] = before;
    distance = 0;
    unit = 1;
  }
  return fids;
}
