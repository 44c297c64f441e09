import type { IndexDatabase } from "../db/index/database.ts";
import { LinkType } from "../db/index/messages/columns.ts";
import { NotificationKind } from "../db/index/project/notifications.ts";
import { statement } from "../db/index/statement.ts";
import { type EvidenceGraph, GraphBuilder } from "./graph.ts";
import { CONSTANTS, evidenceWeight, isDormantAt } from "./method.ts";

/** Rows per read. Reads are short so that none delays the checkpoint of the writer's log. */
const ROWS_PER_READ = 5000;
/** Sources are stored in 4 bytes. Fids are assigned in order, so no real one is above this. */
const MAX_FID = 2 ** 32 - 1;
/** A table by fid costs 4 bytes per fid; with more fids per account than this, a map is smaller. */
const SPARSE = 8;

const fidsAfter = statement<{ fid: number }, [fid: number, limit: number]>(
  "score-scan.fids",
  "SELECT fid FROM fids WHERE fid > ? AND registered_at IS NOT NULL ORDER BY fid LIMIT ?",
);

interface ActRow {
  readonly fid: number;
  readonly timestamp: number;
  readonly kind: number;
  readonly actorFid: number;
  readonly ref: number;
}
const actsAfter = statement<
  ActRow,
  [fid: number, timestamp: number, kind: number, actorFid: number, ref: number, limit: number]
>(
  "score-scan.acts",
  `SELECT fid, timestamp, kind, actor_fid AS actorFid, ref FROM notifications
   WHERE (fid, timestamp, kind, actor_fid, ref) > (?, ?, ?, ?, ?)
   ORDER BY fid, timestamp, kind, actor_fid, ref LIMIT ?`,
);

interface LinkRow {
  readonly targetFid: number;
  readonly type: number | string;
  readonly at: number;
  readonly fid: number;
}
type LinkKey = [targetFid: number, type: number | string, at: number, fid: number, limit: number];
const plainLinksAfter = statement<LinkRow, LinkKey>(
  "score-scan.links",
  `SELECT target_fid AS targetFid, type, timestamp AS at, fid FROM links
   WHERE displayed_at IS NULL AND (target_fid, type, timestamp, fid) > (?, ?, ?, ?)
   ORDER BY target_fid, type, timestamp, fid LIMIT ?`,
);
const displayedLinksAfter = statement<LinkRow, LinkKey>(
  "score-scan.displayed-links",
  `SELECT target_fid AS targetFid, type, displayed_at AS at, fid FROM links
   WHERE displayed_at IS NOT NULL AND (target_fid, type, displayed_at, fid) > (?, ?, ?, ?)
   ORDER BY target_fid, type, displayed_at, fid LIMIT ?`,
);

const MUTE = "mute";

/** Result of the scan. */
export interface Scan {
  readonly graph: EvidenceGraph;
  /** Number of pairs that were left out because memory was short. */
  readonly leftOut: number;
  /** Returns the account of an fid; -1 if it is not registered. */
  readonly accountOf: (fid: number) => number;
}

export interface ScanOptions {
  readonly nowSecs: number;
  readonly maxBytes: number;
  /** Awaited after each read. */
  readonly turn: () => Promise<void>;
}

/**
 * Reads which accounts acted towards which from the indexes by target: links and notifications, never casts. The index may
 * change in the meantime, because each read is a separate snapshot.
 */
export async function scanEvidence(db: IndexDatabase, options: ScanOptions): Promise<Scan> {
  const { nowSecs, maxBytes, turn } = options;
  const fids = await readFids(db, turn);
  const accountOf = accountsOf(fids);
  const lastActs = new Uint32Array(fids.length);
  for await (const acts of allActs(db, turn)) {
    for (const { actorFid, timestamp } of acts) {
      const actor = accountOf(actorFid);
      if (actor >= 0 && timestamp > (lastActs[actor] ?? 0)) lastActs[actor] = timestamp;
    }
  }
  const isDormant = isDormantAt(nowSecs);
  const builder = new GraphBuilder({
    fids,
    lastActs,
    isDormant: (account) => isDormant(lastActs[account] ?? 0),
    maxBytes,
  });
  const since = nowSecs - CONSTANTS.evidenceSecs;
  const links = [
    new Rows(allLinks(db, plainLinksAfter, turn)),
    new Rows(allLinks(db, displayedLinksAfter, turn)),
  ];
  const acts = new Rows(allActs(db, turn));
  for (const [target, fid] of fids.entries()) {
    const evidence = new Evidence();
    for (const rows of links)
      await rows.upTo(
        fid,
        ({ targetFid }) => targetFid,
        (row) => {
          if (row.targetFid !== fid || row.fid === fid) return;
          if (row.type === LinkType.Follow) evidence.of(accountOf(row.fid)).follows = true;
          else if (row.type === LinkType.Block || row.type === MUTE)
            evidence.of(accountOf(row.fid)).isRefused = true;
        },
      );
    await acts.upTo(
      fid,
      (row) => row.fid,
      (row) => {
        if (row.fid !== fid || row.timestamp <= since || row.kind === NotificationKind.Follow) return;
        const pair = evidence.of(accountOf(row.actorFid));
        if (row.kind === NotificationKind.Mention || row.kind === NotificationKind.Reply) pair.replies += 1;
        else pair.reactions += 1;
      },
    );
    evidence.addTo(builder);
    if (target < fids.length) builder.endTarget();
  }
  return { graph: builder.finish(), leftOut: builder.leftOut, accountOf };
}

interface Pair {
  follows: boolean;
  isRefused: boolean;
  replies: number;
  reactions: number;
}

/** The acts of each source towards one target. */
class Evidence {
  readonly #pairs = new Map<number, Pair>();

  /** @param source -1 stands for no account, whose acts are dropped. */
  of(source: number): Pair {
    let pair = this.#pairs.get(source);
    if (!pair) {
      pair = { follows: false, isRefused: false, replies: 0, reactions: 0 };
      this.#pairs.set(source, pair);
    }
    return pair;
  }

  addTo(builder: GraphBuilder): void {
    this.#pairs.delete(-1);
    for (const source of [...this.#pairs.keys()].sort((a, b) => a - b)) {
      const { follows, isRefused, replies, reactions } = this.of(source);
      if (!isRefused) builder.add(source, evidenceWeight(follows, replies, reactions));
    }
  }
}

/** Pages of rows, read one group after another. */
class Rows<Row> {
  readonly #pages: AsyncGenerator<Row[]>;
  #page: Row[] = [];
  #at = 0;
  #isOver = false;

  constructor(pages: AsyncGenerator<Row[]>) {
    this.#pages = pages;
  }

  /** Consumes the rows whose key is not above `key`. Waits only when a page has to be read. */
  async upTo(key: number, keyOf: (row: Row) => number, take: (row: Row) => void): Promise<void> {
    for (;;) {
      for (let row = this.#page[this.#at]; row !== undefined; row = this.#page[this.#at]) {
        if (keyOf(row) > key) return;
        take(row);
        this.#at += 1;
      }
      if (this.#isOver) return;
      const next = await this.#pages.next();
      this.#page = next.done ? [] : next.value;
      this.#at = 0;
      this.#isOver = next.done === true;
    }
  }
}

async function readFids(db: IndexDatabase, turn: () => Promise<void>): Promise<Float64Array> {
  const fids: number[] = [];
  for (;;) {
    const rows = db.all(fidsAfter, fids.at(-1) ?? 0, ROWS_PER_READ);
    for (const { fid } of rows) if (fid <= MAX_FID) fids.push(fid);
    if (rows.length < ROWS_PER_READ || (rows.at(-1)?.fid ?? 0) > MAX_FID) return Float64Array.from(fids);
    await turn();
  }
}

function accountsOf(fids: Float64Array): (fid: number) => number {
  const last = fids.at(-1) ?? 0;
  if (last > SPARSE * fids.length) {
    const accounts = new Map<number, number>();
    for (const [account, fid] of fids.entries()) accounts.set(fid, account);
    return (fid) => accounts.get(fid) ?? -1;
  }
  const accounts = new Int32Array(last + 1).fill(-1);
  for (const [account, fid] of fids.entries()) accounts[fid] = account;
  return (fid) => accounts[fid] ?? -1;
}

async function* allActs(db: IndexDatabase, turn: () => Promise<void>): AsyncGenerator<ActRow[]> {
  let last: ActRow = { fid: 0, timestamp: -1, kind: 0, actorFid: 0, ref: 0 };
  for (;;) {
    const { fid, timestamp, kind, actorFid, ref } = last;
    const rows = db.all(actsAfter, fid, timestamp, kind, actorFid, ref, ROWS_PER_READ);
    yield rows;
    const end = rows.at(-1);
    if (end === undefined || rows.length < ROWS_PER_READ) return;
    last = end;
    await turn();
  }
}

async function* allLinks(
  db: IndexDatabase,
  after: typeof plainLinksAfter,
  turn: () => Promise<void>,
): AsyncGenerator<LinkRow[]> {
  let last: LinkRow = { targetFid: 0, type: 0, at: 0, fid: 0 };
  for (;;) {
    const rows = db.all(after, last.targetFid, last.type, last.at, last.fid, ROWS_PER_READ);
    yield rows;
    const end = rows.at(-1);
    if (end === undefined || rows.length < ROWS_PER_READ) return;
    last = end;
    await turn();
  }
}
