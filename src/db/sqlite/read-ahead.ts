import { dlopen, FFIType } from "bun:ffi";
import type { Database } from "bun:sqlite";
import { openSync, statSync } from "node:fs";
import { totalmem } from "node:os";
import { LeafPages, type LookUps } from "./leaf-pages.ts";

/** Interior pages are read again after this time, and the size of the file and of the memory are compared again. */
const LOOK_AGAIN_MS = 30_000;
/** What a node takes itself (bench/README.md). The rest of the memory holds pages of files. */
const NODE_BYTES = 400_000_000;
/** 16 MB, half of a reader's cache. */
const RECENT_PAGES = 4_096;
/** `POSIX_FADV_WILLNEED` */
const WILL_NEED = 3;
const LIBRARIES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];
const { i32, i64_fast: i64 } = FFIType;
const SYMBOLS = { posix_fadvise: { args: [i32, i64, i64, i32], returns: i32 } } as const;

const roots = "SELECT rootpage FROM sqlite_schema WHERE name = ?";

/** Never closed: closing any descriptor of a database would release the locks that SQLite holds on it for the process. */
const descriptors = new Map<string, number>();

/**
 * Asks the system for the pages that look-ups are about to read, all at once, where the database is larger than the memory. A statement
 * reads one page after another and waits for each; a disk reads dozens in the time of one. On Linux only.
 */
export class ReadAhead {
  readonly #sqlite: Database;
  readonly #memoryBytes: () => number;
  #lookAgainAtMs = 0;
  #pages: LeafPages | undefined;
  #isNeeded = false;
  /** The pages that were asked for last. The connection's own cache or the system's still has them. */
  #recent = new Set<number>();
  #older = new Set<number>();
  #ask: (page: number) => void = () => undefined;

  /** @param memoryBytes of the machine or its control group */
  constructor(sqlite: Database, memoryBytes: () => number = ownMemoryBytes) {
    this.#sqlite = sqlite;
    this.#memoryBytes = memoryBytes;
  }

  /** Asks for the leaves of look-ups that the caller makes next. Does nothing where the database fits into the memory. */
  willRead(lookUps: () => readonly LookUps[]): void {
    if (performance.now() >= this.#lookAgainAtMs) this.#look();
    if (!this.#isNeeded || !this.#pages) return;
    for (const page of this.#pages.leavesOf(lookUps())) {
      if (this.#recent.has(page) || this.#older.has(page)) continue;
      this.#recent.add(page);
      this.#ask(page);
    }
    if (this.#recent.size < RECENT_PAGES) return;
    this.#older = this.#recent;
    this.#recent = new Set();
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
    const library = openLibrary();
    if (!library) return undefined;
    const fd = descriptors.get(filename) ?? openSync(filename, "r");
    descriptors.set(filename, fd);
    const { page_size: pageBytes } = this.#sqlite
      .query<{ page_size: number }, []>("PRAGMA page_size")
      .get() ?? {
      page_size: 0,
    };
    this.#ask = (page) => library.posix_fadvise(fd, (page - 1) * pageBytes, pageBytes, WILL_NEED);
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

function openLibrary() {
  for (const name of process.platform === "linux" ? LIBRARIES : []) {
    try {
      return dlopen(name, SYMBOLS).symbols;
    } catch {
      // Another C library.
    }
  }
  return undefined;
}
