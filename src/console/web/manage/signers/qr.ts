/** QR codes (ISO/IEC 18004) of links: byte mode, 15 % error correction, versions 1 to 20, up to 666 bytes. */

/** By version: error correction bytes per block, and the number of blocks. */
const CORRECTION = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26] as const;
const BLOCKS = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16] as const;

type Grid = boolean[][];

/** Returns the dark modules of the code of a text, by row; undefined if the text is too long. */
export function qrModules(text: string): readonly (readonly boolean[])[] | undefined {
  const bytes = new TextEncoder().encode(text);
  const at = CORRECTION.findIndex((_, index) => capacityOf(index + 1) >= bytes.length);
  if (at < 0) return undefined;
  const version = at + 1;
  const size = 4 * version + 17;
  const dark = grid(size);
  const fixed = grid(size);
  drawFixed(version, dark, fixed);
  drawBits(withCorrection(dataOf(bytes, version), version), dark, fixed);
  const masked = MASKS.map((isFlipped, mask) => {
    const one = dark.map((row, y) => row.map((bit, x) => bit !== (!fixed[y]?.[x] && isFlipped(x, y))));
    drawFormat(one, mask);
    return one;
  });
  return masked.reduce((best, one) => (penaltyOf(one) < penaltyOf(best) ? one : best));
}

const grid = (size: number): Grid => Array.from({ length: size }, () => Array<boolean>(size).fill(false));

/** Returns the number of bytes for data and correction together. */
function rawBytes(version: number): number {
  let bits = (16 * version + 128) * version + 64;
  if (version >= 2) {
    const aligned = Math.floor(version / 7) + 2;
    bits -= (25 * aligned - 10) * aligned - 55 + (version >= 7 ? 36 : 0);
  }
  return Math.floor(bits / 8);
}

const correctionOf = (version: number) => CORRECTION[version - 1] ?? 0;
const blocksOf = (version: number) => BLOCKS[version - 1] ?? 0;
const dataBytes = (version: number) => rawBytes(version) - correctionOf(version) * blocksOf(version);
const countBits = (version: number) => (version < 10 ? 8 : 16);
const capacityOf = (version: number) => dataBytes(version) - Math.ceil((4 + countBits(version)) / 8);

/** Returns mode, length, the bytes, and padding. */
function dataOf(bytes: Uint8Array, version: number): number[] {
  const bits: number[] = [];
  const push = (value: number, length: number) => {
    for (let bit = length - 1; bit >= 0; bit--) bits.push((value >> bit) & 1);
  };
  push(4, 4);
  push(bytes.length, countBits(version));
  for (const byte of bytes) push(byte, 8);
  push(0, Math.min(4, dataBytes(version) * 8 - bits.length));
  const data = Array.from({ length: Math.ceil(bits.length / 8) }, (_, at) =>
    Array.from({ length: 8 }, (_, bit) => bits[at * 8 + bit] ?? 0).reduce((sum, bit) => sum * 2 + bit, 0),
  );
  for (let fill = 0xec; data.length < dataBytes(version); fill ^= 0xec ^ 0x11) data.push(fill);
  return data;
}

/** Multiplies in the standard's field of 256 elements. */
function times(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--)
    product = (product << 1) ^ ((product >> 7) * 0x11d) ^ (((b >> bit) & 1) * a);
  return product;
}

/** Appends the correction of each block and interleaves the blocks. */
function withCorrection(data: readonly number[], version: number): number[] {
  const length = correctionOf(version);
  const blocks = blocksOf(version);
  const short = Math.floor(data.length / blocks);
  const divisor = divisorOf(length);
  let start = 0;
  const parts = Array.from({ length: blocks }, (_, at) => {
    const end = start + short + (at < blocks - (data.length % blocks) ? 0 : 1);
    const block = data.slice(start, end);
    start = end;
    return { block, correction: remainder(block, divisor) };
  });
  const interleaved = (member: "block" | "correction", longest: number) =>
    Array.from({ length: longest }, (_, at) => parts.flatMap((part) => part[member][at] ?? [])).flat();
  return [...interleaved("block", short + 1), ...interleaved("correction", length)];
}

function divisorOf(degree: number): number[] {
  const divisor = [...Array<number>(degree - 1).fill(0), 1];
  for (let count = 0, root = 1; count < degree; count++, root = times(root, 2))
    for (let at = 0; at < degree; at++) divisor[at] = times(divisor[at] ?? 0, root) ^ (divisor[at + 1] ?? 0);
  return divisor;
}

function remainder(data: readonly number[], divisor: readonly number[]): number[] {
  const rest = divisor.map(() => 0);
  for (const byte of data) {
    const factor = byte ^ (rest.shift() ?? 0);
    rest.push(0);
    divisor.forEach((coefficient, at) => {
      rest[at] = (rest[at] ?? 0) ^ times(coefficient, factor);
    });
  }
  return rest;
}

/** Draws finders, timing, alignment and version, and reserves the format area. */
function drawFixed(version: number, dark: Grid, fixed: Grid): void {
  const size = dark.length;
  const set = (x: number, y: number, isDark: boolean) => {
    const [row, taken] = [dark[y], fixed[y]];
    if (!row || !taken || x < 0 || x >= size) return;
    row[x] = isDark;
    taken[x] = true;
  };
  for (let at = 0; at < size; at++) {
    set(6, at, at % 2 === 0);
    set(at, 6, at % 2 === 0);
  }
  const square = (x: number, y: number, reach: number, isDark: (ring: number) => boolean) => {
    for (let dy = -reach; dy <= reach; dy++)
      for (let dx = -reach; dx <= reach; dx++)
        set(x + dx, y + dy, isDark(Math.max(Math.abs(dx), Math.abs(dy))));
  };
  const places = alignment(version);
  const last = places.length - 1;
  for (const [i, x] of places.entries())
    for (const [j, y] of places.entries())
      if (!((i === 0 && (j === 0 || j === last)) || (i === last && j === 0)))
        square(x, y, 2, (ring) => ring !== 1);
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    square(x, y, 4, (ring) => ring !== 2 && ring !== 4);
  for (let at = 0; at < 9; at++) {
    if (at !== 6) {
      set(8, at, false);
      set(at, 8, false);
    }
    if (at < 8) {
      set(size - 1 - at, 8, false);
      set(8, size - 1 - at, at === 7);
    }
  }
  if (version < 7) return;
  const bits = checked(version, 12, 0x1f25);
  for (let at = 0; at < 18; at++) {
    const [long, short] = [size - 11 + (at % 3), Math.floor(at / 3)];
    const isDark = ((bits >> at) & 1) === 1;
    set(long, short, isDark);
    set(short, long, isDark);
  }
}

function alignment(version: number): number[] {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
  return [6, ...Array.from({ length: count - 1 }, (_, at) => version * 4 + 10 - step * (count - 2 - at))];
}

/** Returns a value followed by the remainder of a cyclic code. */
function checked(value: number, length: number, polynomial: number): number {
  let rest = value;
  for (let at = 0; at < length; at++) rest = (rest << 1) ^ ((rest >> (length - 1)) * polynomial);
  return (value << length) | rest;
}

/** Draws the correction level (15 %: 0) and the mask, twice. */
function drawFormat(dark: Grid, mask: number): void {
  const size = dark.length;
  const bits = checked(mask, 10, 0x537) ^ 0x5412;
  for (let at = 0; at < 15; at++) {
    const isDark = ((bits >> at) & 1) === 1;
    const set = (x: number, y: number) => {
      const row = dark[y];
      if (row) row[x] = isDark;
    };
    if (at < 6) set(8, at);
    else if (at < 8) set(8, at + 1);
    else if (at === 8) set(7, 8);
    else set(14 - at, 8);
    if (at < 8) set(size - 1 - at, 8);
    else set(8, size - 15 + at);
  }
}

/** Draws from the lower right, two columns at a time, alternately up and down. */
function drawBits(bytes: readonly number[], dark: Grid, fixed: Grid): void {
  const size = dark.length;
  let at = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step++)
      for (const x of [right, right - 1]) {
        const y = ((right + 1) & 2) === 0 ? size - 1 - step : step;
        const row = dark[y];
        if (!row || fixed[y]?.[x]) continue;
        row[x] = (((bytes[at >> 3] ?? 0) >> (7 - (at & 7))) & 1) === 1;
        at++;
      }
  }
}

const MASKS: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

/** Returns how hard a code is to read, by long runs, squares of one color, and an imbalance of dark and light. */
function penaltyOf(dark: Grid): number {
  const size = dark.length;
  let penalty = 0;
  let count = 0;
  for (let a = 0; a < size; a++) {
    let [across, down] = [0, 0];
    for (let b = 0; b < size; b++) {
      across = b > 0 && dark[a]?.[b] === dark[a]?.[b - 1] ? across + 1 : 1;
      down = b > 0 && dark[b]?.[a] === dark[b - 1]?.[a] ? down + 1 : 1;
      for (const run of [across, down]) penalty += run === 5 ? 3 : run > 5 ? 1 : 0;
      if (dark[a]?.[b]) count++;
      const square = [dark[a]?.[b], dark[a]?.[b + 1], dark[a + 1]?.[b], dark[a + 1]?.[b + 1]];
      if (square.every((bit) => bit === square[0])) penalty += 3;
    }
  }
  return penalty + Math.floor(Math.abs((count * 20) / size ** 2 - 10)) * 10;
}
