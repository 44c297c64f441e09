import { fsyncSync } from "node:fs";
import type { IndexDatabase } from "../database.ts";
import { indexPeople, markPeopleIndexed } from "../search/people-index.ts";
import {
  type BulkBuild,
  type BulkPhase,
  type BulkProgress,
  BulkState,
  bulkPhaseOf,
  canBulkBuild,
  isBulkBuilding,
  type PackedMessages,
} from "./bulk-state.ts";
import { hasFile, sortIntoFiles } from "./sort-files.ts";
import { Spool } from "./spool.ts";
import { bulkTables, createSpoolTables, dropTable } from "./spool-tables.ts";
import { CAST_ID_STAGES, CAST_STAGES } from "./stages/cast-ids.ts";
import { dropIndexes, indexesOf } from "./stages/indexes.ts";
import { DROP_STAGE, GENERIC_STAGES, TYPED_STAGES } from "./stages/messages.ts";
import { REGISTRY_STAGE, TOTAL_STAGE } from "./stages/registry.ts";
import { SEARCH_STAGE } from "./stages/search.ts";
import { QUOTE_STAGE, SOCIAL_STAGES } from "./stages/social.ts";
import type { BuildContext, BulkStage } from "./stages/stage.ts";
import { THREAD_STAGES } from "./stages/threads.ts";

/** Fills the index of people in order of fids. */
const PEOPLE_STAGE: BulkStage = {
  name: "people",
  weight: 2,
  run({ db, state, rowsPerStep }) {
    const last = indexPeople(db, state.get("last searchable fid") ?? 0, rowsPerStep);
    if (last === undefined) {
      markPeopleIndexed(db);
      return true;
    }
    state.put("last searchable fid", last);
    return false;
  },
};

/** The stages of the build, in order. An unfinished build stores the number of its stage, so add new stages at the end. */
const STAGES: readonly BulkStage[] = [
  ...GENERIC_STAGES,
  ...CAST_ID_STAGES,
  ...THREAD_STAGES,
  ...CAST_STAGES,
  ...TYPED_STAGES,
  QUOTE_STAGE,
  indexesOf(15, "casts", "missing_casts", "reactions", "links", "user_data", "messages"),
  DROP_STAGE,
  ...SOCIAL_STAGES,
  REGISTRY_STAGE,
  TOTAL_STAGE,
  SEARCH_STAGE,
  PEOPLE_STAGE,
];

export interface BulkBuildOptions {
  /** Size of the page cache during the build, in KiB. A sort takes as much again, and a step has at most two at a time. */
  readonly cacheKib?: number;
  /** Rows per transaction where a stage can divide its work. */
  readonly rowsPerStep?: number;
  /** Rows per transaction where a stage sorts, which reads all rows again each time. */
  readonly rowsPerSort?: number;
}

const DEFAULT_CACHE_KIB = 98_304;
/** Pages of the write-ahead log after which a commit syncs it and writes it into the file: 256 MB. */
const SYNC_PAGES = 65_536;
const ROWS_PER_STEP = 250_000;
/** A sort of this size logs 2 to 3 GB. The whole network needs at most seven of them in a stage. */
const ROWS_PER_SORT = 100_000_000;

/**
 * Continues the bulk build of an index, or starts one if the index has no messages. The connection is set up for
 * building until the build has finished; no other may write.
 *
 * @throws Error when the index has messages that no unfinished build has written.
 */
export function openBulkBuild(db: IndexDatabase, options: BulkBuildOptions = {}): BulkBuild {
  const restore = prepare(db, options.cacheKib ?? DEFAULT_CACHE_KIB);
  const state = new BulkState(db);
  const spool = new Spool(db);
  let phase: BulkPhase;
  try {
    if (!isBulkBuilding(db)) {
      if (!canBulkBuild(db)) throw new Error("the index has messages already");
      db.transaction(() => {
        createSpoolTables(db);
        dropIndexes(db);
      });
    }
    phase = bulkPhaseOf(db) ?? "spooling";
  } catch (cause) {
    restore();
    throw cause;
  }

  function append(
    batch: readonly PackedMessages[] | (() => readonly PackedMessages[]),
    alongside?: () => void,
  ): void {
    if (phase !== "spooling") throw new Error("the spool has ended");
    try {
      db.transaction(() => {
        for (const { bytes } of typeof batch === "function" ? batch() : batch) spool.append(bytes);
        alongside?.();
      });
    } catch (cause) {
      spool.reset();
      throw cause;
    }
  }

  function step(): BulkProgress | undefined {
    if (phase === "finished") return undefined;
    const { rowsPerStep = ROWS_PER_STEP, rowsPerSort = ROWS_PER_SORT } = options;
    const context: BuildContext = { db, state, rowsPerStep, rowsPerSort };
    const at = state.get("stage") ?? 0;
    const stage = STAGES[at];
    db.transaction(() => {
      state.put("building", 1);
      if (stage) {
        if (stage.run(context)) state.put("stage", at + 1);
        return;
      }
      for (const table of bulkTables(db)) dropTable(db, table);
      db.invalidations.everything();
    });
    phase = "building";
    if (stage) return progressAt(state.get("stage") ?? 0);
    phase = "finished";
    restore();
    syncLog(db);
    db.checkpoint();
    return undefined;
  }

  return {
    get phase() {
      return phase;
    },
    append,
    sync: () => syncLog(db),
    step,
  };
}

function progressAt(at: number): BulkProgress {
  const weightOf = (stages: typeof STAGES) => stages.reduce((sum, { weight }) => sum + weight, 0);
  return { stage: STAGES[at]?.name ?? "end", done: weightOf(STAGES.slice(0, at)) / weightOf(STAGES) };
}

/** Sets the connection up for building. Returns a function that undoes it. */
function prepare(db: IndexDatabase, cacheKib: number): () => void {
  const { sqlite } = db;
  const before = ["synchronous", "wal_autocheckpoint", "cache_size"].map((name) => {
    const row = sqlite.query<Record<string, number>, []>(`PRAGMA ${name}`).get();
    return `PRAGMA ${name} = ${Object.values(row ?? {})[0]}`;
  });
  // In write-ahead mode a commit then becomes durable with the next checkpoint, not before.
  sqlite.exec("PRAGMA synchronous = NORMAL");
  sqlite.exec(`PRAGMA wal_autocheckpoint = ${SYNC_PAGES}`);
  sqlite.exec(`PRAGMA cache_size = -${cacheKib}`);
  const restoreSorts = sortIntoFiles(db);
  return () => {
    for (const pragma of before) sqlite.exec(pragma);
    restoreSorts();
  };
}

/** Syncs the write-ahead log, which holds every commit that is not in the file yet. */
function syncLog(db: IndexDatabase): void {
  if (hasFile(db)) fsyncSync(db.logDescriptor);
}
