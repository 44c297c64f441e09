import { dlopen, FFIType, ptr } from "bun:ffi";
import type { Database } from "bun:sqlite";
import { openSync, statSync } from "node:fs";
import { totalmem } from "node:os";
import { LeafPages, type LookUps } from "./leaf-pages.ts";

/** Interval after which interior pages are read again, and the size of the file is compared with the memory again. */
const LOOK_AGAIN_MS = 30_000;
/** Memory that a node uses itself (bench/README.md). The rest of the memory caches pages of files. */
const NODE_BYTES = 400_000_000;
/** 16 MB, most of the cache of an HTTP worker. */
const RECENT_PAGES = 4_096;
/** `POSIX_FADV_WILLNEED` */
const WILL_NEED = 3;
/** `RWF_NOWAIT`: a read of data that is not in memory fails instead of waiting. */
const NO_WAIT = 8;
const LIBRARIES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];
const { i32, i64_fast: i64, ptr: pointer } = FFIType;
const ADVISE = { posix_fadvise: { args: [i32, i64, i64, i32], returns: i32 } } as const;
const READ = { preadv2: { args: [i32, pointer, i32, i64, i32], returns: i64 } } as const;

const roots = "SELECT rootpage FROM sqlite_schema WHERE name = ?";

/** Never closed: closing any descriptor of a database would release the locks that SQLite holds on it for the process. */
const descriptors = new Map<string, number>();

/** Thrown within a read that may leave its turn: it has requested pages that are not in memory. */
export class PagesOnTheWay extends Error {
  readonly #absent: number[];
  readonly #isInMemory: (page: number) => boolean;

  constructor(absent: number[], isInMemory: (page: number) => boolean) {
    super("pages are on their way from the disk");
    this.#absent = absent;
    this.#isInMemory = isInMemory;
  }

  haveArrived(): boolean {
    for (let page = this.#absent.at(-1); page !== undefined; page = this.#absent.at(-1)) {
      if (!this.#isInMemory(page)) return false;
      this.#absent.pop();
    }
    return true;
  }
}

/**
 * Requests the pages that look-ups are about to read, all at once, if the database is larger than the memory. A statement
 * reads one page after another and waits for each; a disk reads dozens in the time of one. On Linux only.
 */
export class ReadAhead {
  readonly #sqlite: Database;
  readonly #memoryBytes: () => number;
  #lookAgainAtMs = 0;
  #pages: LeafPages | undefined;
  #isNeeded = false;
  /** The pages requested last. They are still in the connection's own cache or the system's. */
  #recent = new Set<number>();
  #older = new Set<number>();
  #ask: (page: number) => void = () => undefined;
  /** Undefined if the system cannot tell. */
  #isInMemory: ((page: number) => boolean) | undefined;
  #mayLeave = false;

  /**
   * @param options.memoryBytes memory of the machine or its control group.
   * @param options.isInMemory whether a page would be read without waiting. Default: asks the system.
   */
  constructor(
    sqlite: Database,
    options: { readonly memoryBytes?: () => number; readonly isInMemory?: (page: number) => boolean } = {},
  ) {
    this.#sqlite = sqlite;
    this.#memoryBytes = options.memoryBytes ?? ownMemoryBytes;
    this.#isInMemory = options.isInMemory;
  }

  /**
   * Requests the leaves of the look-ups that the caller makes next. Does nothing if the database fits into the memory.
   *
   * @throws PagesOnTheWay within `leaving`, if one of them has to be read from the disk.
   */
  willRead(lookUps: () => readonly LookUps[]): void {
    if (performance.now() >= this.#lookAgainAtMs) this.#look();
    if (!this.#isNeeded || !this.#pages) return;
    const absent: number[] = [];
    const isInMemory = this.#mayLeave ? this.#isInMemory : undefined;
    for (const page of this.#pages.leavesOf(lookUps())) {
      if (this.#recent.has(page) || this.#older.has(page)) continue;
      this.#recent.add(page);
      if (isInMemory?.(page)) continue;
      this.#ask(page);
      absent.push(page);
    }
    if (this.#recent.size >= RECENT_PAGES) {
      this.#older = this.#recent;
      this.#recent = new Set();
    }
    if (isInMemory && absent.length > 0) throw new PagesOnTheWay(absent, isInMemory);
  }

  /** Whether the database was larger than the memory when last checked. */
  get isNeeded(): boolean {
    return this.#isNeeded;
  }

  /**
   * Runs work that throws `PagesOnTheWay` instead of waiting for pages that it has announced, and that the caller then runs
   * again.
   */
  leaving<T>(work: () => T): T {
    this.#mayLeave = true;
    try {
      return work();
    } finally {
      this.#mayLeave = false;
    }
  }

  #look(): void {
    this.#lookAgainAtMs = performance.now() + LOOK_AGAIN_MS;
    const { filename } = this.#sqlite;
    const size = statSync(filename, { throwIfNoEntry: false })?.size ?? 0;
    this.#isNeeded = size > this.#memoryBytes() - NODE_BYTES;
    if (this.#isNeeded) this.#pages ??= this.#open(filename);
    this.#pages?.forget();
  }

  #open(filename: string): LeafPages | undefined {
    const advise = openLibrary(ADVISE)?.posix_fadvise;
    if (!advise) return undefined;
    const fd = descriptors.get(filename) ?? openSync(filename, "r");
    descriptors.set(filename, fd);
    const { page_size: pageBytes } = this.#sqlite
      .query<{ page_size: number }, []>("PRAGMA page_size")
      .get() ?? {
      page_size: 0,
    };
    this.#ask = (page) => advise(fd, (page - 1) * pageBytes, pageBytes, WILL_NEED);
    this.#isInMemory ??= residence(fd, pageBytes);
    const rootOf = this.#sqlite.query<{ rootpage: number }, [string]>(roots);
    return new LeafPages({
      fd,
      pageBytes,
      rootOf: (tree) => rootOf.get(tree)?.rootpage,
      willNeed: this.#ask,
    });
  }
}

function ownMemoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Returns a function that reports whether a page is in the system's memory, by reading its first byte without waiting. */
function residence(fd: number, pageBytes: number): ((page: number) => boolean) | undefined {
  const read = openLibrary(READ)?.preadv2;
  if (!read) return undefined;
  const byte = new Uint8Array(1);
  const vector = BigUint64Array.of(BigInt(ptr(byte)), 1n);
  const isInMemory = (page: number) =>
    Number(read(fd, ptr(vector), 1, (page - 1) * pageBytes, NO_WAIT)) === byte.length;
  // The first page has just been read. If the file system cannot report that, it never could.
  return isInMemory(1) ? isInMemory : undefined;
}

function openLibrary<const Symbols extends Parameters<typeof dlopen>[1]>(symbols: Symbols) {
  for (const name of process.platform === "linux" ? LIBRARIES : []) {
    try {
      return dlopen(name, symbols).symbols;
    } catch {
      // Not glibc or a compatible C library.
    }
  }
  return undefined;
}
