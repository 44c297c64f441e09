/** Rows of figures. Columns are identified by number. */
export interface FigureChunk {
  /** Unix seconds, strictly rising. */
  readonly t: readonly number[];
  /** One value per row; NaN for none. */
  readonly columns: ReadonlyMap<number, Float32Array>;
}

const LEVEL = 6;
const WORD = 4;

/** Packs rows: bytes of the same significance of all words are put together, then compressed. */
export function encodeChunk({ t, columns }: FigureChunk): Uint8Array<ArrayBuffer> {
  const rows = t.length;
  const words = new Uint32Array(2 + rows + columns.size * (1 + rows));
  words[0] = rows;
  words[1] = columns.size;
  let at = 2;
  for (const time of t) words[at++] = time;
  for (const key of columns.keys()) words[at++] = key;
  const floats = new Float32Array(words.buffer);
  for (const column of columns.values()) {
    floats.set(column, at);
    at += rows;
  }
  return Bun.zstdCompressSync(shuffled(new Uint8Array(words.buffer)), {
    level: LEVEL,
  }) as Uint8Array<ArrayBuffer>;
}

/**
 * Unpacks rows. Columns that are not wanted cost little, because most readers want only a few.
 *
 * @throws Error for bytes that `encodeChunk` did not produce.
 */
export function decodeChunk(
  bytes: Uint8Array<ArrayBuffer>,
  isWanted: (column: number) => boolean = () => true,
): FigureChunk {
  const body = Bun.zstdDecompressSync(bytes);
  const total = Math.floor(body.length / WORD);
  const [rows = 0, width = 0] = wordsOf(body, 0, 2);
  if (total !== 2 + rows + width * (1 + rows)) throw new Error("a chunk of figures is damaged");
  const t = Array.from(wordsOf(body, 2, rows));
  const columns = new Map<number, Float32Array>();
  let at = 2 + rows + width;
  for (const key of wordsOf(body, 2 + rows, width)) {
    if (isWanted(key)) columns.set(key, new Float32Array(wordsOf(body, at, rows).buffer));
    at += rows;
  }
  return { t, columns };
}

/** Returns the rows of several chunks, in order, with the columns of all. */
export function joinChunks(chunks: readonly FigureChunk[]): FigureChunk {
  const t = chunks.flatMap((chunk) => chunk.t);
  const columns = new Map<number, Float32Array>();
  let from = 0;
  for (const chunk of chunks) {
    for (const [key, values] of chunk.columns) {
      const column = columns.get(key) ?? new Float32Array(t.length).fill(Number.NaN);
      columns.set(key, column);
      column.set(values, from);
    }
    from += chunk.t.length;
  }
  return { t, columns };
}

/** Returns the rows of a time range, whose end is exclusive. */
export function rowsBetween(chunk: FigureChunk, from: number, to: number): FigureChunk {
  const first = chunk.t.findIndex((t) => t >= from);
  if (first === -1) return { t: [], columns: new Map() };
  const end = chunk.t.findIndex((t) => t >= to);
  const last = end === -1 ? chunk.t.length : end;
  if (first === 0 && last === chunk.t.length) return chunk;
  const columns = new Map<number, Float32Array>();
  for (const [key, values] of chunk.columns) columns.set(key, values.slice(first, last));
  return { t: chunk.t.slice(first, last), columns };
}

function shuffled(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const words = bytes.length / WORD;
  const out = new Uint8Array(bytes.length);
  for (let plane = 0; plane < WORD; plane++)
    for (let word = 0; word < words; word++) out[plane * words + word] = bytes[word * WORD + plane] ?? 0;
  return out;
}

/** Returns some words of shuffled bytes. */
function wordsOf(bytes: Uint8Array, from: number, count: number): Uint32Array<ArrayBuffer> {
  const words = Math.floor(bytes.length / WORD);
  const out = new Uint8Array(count * WORD);
  for (let plane = 0; plane < WORD; plane++)
    for (let word = 0; word < count; word++)
      out[word * WORD + plane] = bytes[plane * words + from + word] ?? 0;
  return new Uint32Array(out.buffer);
}
