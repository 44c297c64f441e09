const BYTES_PER_SOURCE = 6;
const WHOLE_SHARE = 65_535;

/** An account that contributed to another's score, with its share of all contributions, from 0 to 1. */
export interface StoredSource {
  readonly fid: number;
  readonly share: number;
}

/** Packs the sources of an account: 4 bytes of fid and 2 bytes of share each. Returns null if there are none. */
export function packSources(sources: readonly StoredSource[]): Uint8Array | null {
  if (sources.length === 0) return null;
  const packed = Buffer.alloc(sources.length * BYTES_PER_SOURCE);
  for (const [at, { fid, share }] of sources.entries()) {
    packed.writeUInt32LE(fid, at * BYTES_PER_SOURCE);
    packed.writeUInt16LE(Math.round(share * WHOLE_SHARE), at * BYTES_PER_SOURCE + 4);
  }
  return packed;
}

/** Reverses `packSources`. */
export function unpackSources(packed: Uint8Array | null): StoredSource[] {
  if (packed === null) return [];
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  return Array.from({ length: bytes.length / BYTES_PER_SOURCE }, (_, at) => ({
    fid: bytes.readUInt32LE(at * BYTES_PER_SOURCE),
    share: bytes.readUInt16LE(at * BYTES_PER_SOURCE + 4) / WHOLE_SHARE,
  }));
}
