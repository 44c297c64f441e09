import { readSync } from "node:fs";

/** A row id, or the first columns of the key of an index or of a table WITHOUT ROWID. A string is text; bytes are a blob. */
export type TreeKey = number | readonly (number | string | Uint8Array)[];

/** Keys that are about to be looked up in a table or index, by its name. */
export interface LookUps {
  readonly tree: string;
  readonly keys: readonly TreeKey[];
}

/** Returns the first page of a table or index, by its name. */
export type RootOf = (tree: string) => number | undefined;

const INTERIOR_INDEX = 2;
const INTERIOR_TABLE = 5;
const LEAF_INDEX = 10;
const LEAF_TABLE = 13;
const MAX_DEPTH = 12;
/** 8 MB of interior pages. A table of 100 million rows has about 300 above its lowest interior level. */
const MAX_CACHED = 2_000;

const NO_TREE = { root: 0, depth: -1 };

interface Search {
  readonly page: number;
  /** Number of levels below the page. */
  readonly below: number;
  readonly key: TreeKey;
}

/**
 * Finds the leaves of b-trees that look-ups will read, without reading them, by following the interior pages in the database
 * file (https://sqlite.org/fileformat2.html). Commits that are only in the write-ahead log are not visible, and cached pages
 * may be out of date, so a leaf is a guess. A wrong guess costs one needless page read, but never affects results.
 */
export class LeafPages {
  readonly #interior = new Map<number, Buffer>();
  readonly #trees = new Map<string, { readonly root: number; readonly depth: number }>();
  readonly #fd: number;
  readonly #pageBytes: number;
  readonly #rootOf: RootOf;
  readonly #willNeed: (page: number) => void;

  /** @param options.willNeed requests a page that will be read soon. It returns at once. */
  constructor(options: {
    readonly fd: number;
    readonly pageBytes: number;
    readonly rootOf: RootOf;
    readonly willNeed: (page: number) => void;
  }) {
    this.#fd = options.fd;
    this.#pageBytes = options.pageBytes;
    this.#rootOf = options.rootOf;
    this.#willNeed = options.willNeed;
  }

  /** Discards the cached interior pages, so that later look-ups see changes. */
  forget(): void {
    this.#interior.clear();
    this.#trees.clear();
  }

  /** Returns the leaves. The pages of each level are requested together, so that the disk reads them in parallel. */
  leavesOf(lookUps: readonly LookUps[]): Set<number> {
    const leaves = new Set<number>();
    let level: Search[] = [];
    for (const { tree, keys } of lookUps) {
      const { root, depth } = (keys.length > 0 && this.#treeOf(tree)) || NO_TREE;
      if (depth === 0) leaves.add(root);
      else if (depth > 0) for (const key of keys) level.push({ page: root, below: depth, key });
    }
    while (level.length > 0) {
      this.#ask(level);
      const next: Search[] = [];
      for (const { page, below, key } of level) {
        const child = childOf(this.#pageAt(page), key);
        if (child === undefined) continue;
        if (below === 1) leaves.add(child);
        else next.push({ page: child, below: below - 1, key });
      }
      level = next;
    }
    return leaves;
  }

  #ask(level: readonly Search[]): void {
    const missing = new Set<number>();
    for (const { page } of level) if (!this.#interior.has(page)) missing.add(page);
    if (missing.size > 1) for (const page of missing) this.#willNeed(page);
  }

  /** Returns the root of a tree and the number of levels above its leaves, which are all at the same depth. */
  #treeOf(tree: string): { readonly root: number; readonly depth: number } | undefined {
    const known = this.#trees.get(tree);
    if (known !== undefined) return known;
    const root = this.#rootOf(tree);
    let page = root;
    for (let depth = 0; root !== undefined && page !== undefined && depth < MAX_DEPTH; depth++) {
      const bytes = this.#read(page);
      const type = bytes?.[0];
      if (type === LEAF_INDEX || type === LEAF_TABLE) {
        const found = { root, depth };
        this.#trees.set(tree, found);
        return found;
      }
      page = childOf(bytes, type === INTERIOR_TABLE ? Number.NEGATIVE_INFINITY : []);
    }
    return undefined;
  }

  #pageAt(page: number): Buffer | undefined {
    const known = this.#interior.get(page);
    if (known) return known;
    const bytes = this.#read(page);
    if (bytes === undefined) return undefined;
    if (this.#interior.size >= MAX_CACHED) this.#interior.clear();
    this.#interior.set(page, bytes);
    return bytes;
  }

  #read(page: number): Buffer | undefined {
    const bytes = Buffer.allocUnsafeSlow(this.#pageBytes);
    const length = readSync(this.#fd, bytes, 0, this.#pageBytes, (page - 1) * this.#pageBytes);
    return length === this.#pageBytes ? bytes : undefined;
  }
}

/**
 * Returns the child of an interior page that contains the first entry at or above a key; undefined if the page is of another
 * kind.
 */
function childOf(bytes: Buffer | undefined, key: TreeKey): number | undefined {
  const type = bytes?.[0];
  if (bytes === undefined || (type !== INTERIOR_TABLE && type !== INTERIOR_INDEX)) return undefined;
  const isBelow =
    type === INTERIOR_TABLE
      ? (cell: number) => typeof key === "number" && varint(bytes, cell + 4).value < key
      : (cell: number) => typeof key !== "number" && isEntryBelow(bytes, cell + 4, key);
  const cells = bytes.readUInt16BE(3);
  try {
    let [from, to] = [0, cells];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (isBelow(bytes.readUInt16BE(12 + 2 * middle))) from = middle + 1;
      else to = middle;
    }
    return bytes.readUInt32BE(from === cells ? 8 : bytes.readUInt16BE(12 + 2 * from));
  } catch (cause) {
    // The rest of a long entry is on other pages, or the page has been replaced by now.
    if (cause instanceof RangeError) return undefined;
    throw cause;
  }
}

/** Reports whether the first columns of an index entry are below a key. */
function isEntryBelow(bytes: Buffer, cell: number, key: readonly (number | string | Uint8Array)[]): boolean {
  const payload = varint(bytes, cell);
  const header = varint(bytes, payload.end);
  let type = header.end;
  let body = payload.end + header.value;
  for (const part of key) {
    const { value: serial, end } = varint(bytes, type);
    const length = lengthOf(serial);
    const order = compare(bytes, body, serial, length, part);
    if (order !== 0) return order < 0;
    type = end;
    body += length;
  }
  return false;
}

const INTEGER_BYTES = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0];
const FIRST_BLOB = 12;
const ZERO = 8;

function lengthOf(serial: number): number {
  return INTEGER_BYTES[serial] ?? (serial - FIRST_BLOB) >> 1;
}

/** Compares a value with a part of a key in the order of an index: numbers, text, blobs. */
function compare(
  bytes: Buffer,
  at: number,
  serial: number,
  length: number,
  part: number | string | Uint8Array,
): number {
  const isNumber = serial < FIRST_BLOB;
  if (typeof part === "number") return isNumber ? numberAt(bytes, at, serial, length) - part : 1;
  if (isNumber) return -1;
  const isText = serial % 2 === 1;
  if (isText !== (typeof part === "string")) return isText ? -1 : 1;
  if (at + length > bytes.length) throw new RangeError("the value continues on another page");
  return bytes.subarray(at, at + length).compare(typeof part === "string" ? Buffer.from(part) : part);
}

/** NULL sorts below all numbers. */
function numberAt(bytes: Buffer, at: number, serial: number, length: number): number {
  if (serial === 0) return Number.NEGATIVE_INFINITY;
  if (length === 0) return serial - ZERO;
  if (serial === 7) return bytes.readDoubleBE(at);
  return length === 8 ? Number(bytes.readBigInt64BE(at)) : bytes.readIntBE(at, length);
}

/** Reads an integer of 1 to 9 bytes. */
function varint(bytes: Buffer, at: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let n = 0; n < 8; n++) {
    const byte = bytes.readUInt8(at + n);
    value = value * 128 + (byte & 127);
    if (byte < 128) return { value, end: at + n + 1 };
  }
  // A varint with a ninth byte, which has eight bits, is negative: the id of a missing cast.
  let big = 0n;
  for (let n = 0; n < 8; n++) big = (big << 7n) | BigInt(bytes.readUInt8(at + n) & 127);
  big = (big << 8n) | BigInt(bytes.readUInt8(at + 8));
  return { value: Number(BigInt.asIntN(64, big)), end: at + 9 };
}
