import { statSync } from "node:fs";
import { deleteRankings } from "../../db/index/counts/rankings.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { endHubLog } from "../../db/index/log/hub-log.ts";
import { getPosition } from "../../db/index/positions.ts";
import { createImportSink } from "../../import/import-sink.ts";
import { endNextImport, nextImportFile } from "../../import/next-import.ts";
import { type ImportOptions, runImport } from "../../import/run-import.ts";
import { type RefusalClass, shareDone } from "../../import/summary.ts";
import { createInlineVerifier } from "../../ingest/bulk/verify/verifier.ts";
import { createIngestEngine } from "../../ingest/engine.ts";
import { createSizeBound } from "../../ingest/size-bound.ts";
import { RetryableError, UserError } from "../../lib/failure.ts";
import { engineSchedule } from "../../protocol/network/engine-versions.ts";
import { networkOf } from "../../protocol/network/network.ts";
import { nowSecs } from "../../runtime/clock.ts";
import type { Common } from "../../runtime/common.ts";
import { startVerifierThreads } from "../verifier-threads.ts";
import { workerUrl } from "../worker-urls.ts";
import type { Starting } from "./starting.ts";

/** What a node does between an import and its first response. */
const OPENING = "opening the imported index";
/** A smaller file is verified before threads would have started. */
const MIN_BYTES_FOR_THREADS = 1024 * 1024;

type ImportParts = Pick<ImportOptions, "sink" | "positions" | "clock" | "signal">;

/** Runs `work` with the dependencies of an import into an index. */
export async function withImport<T>(
  { config, clock, log, shutdown }: Common,
  { db, fileBytes }: { readonly db: IndexDatabase; readonly fileBytes: number },
  work: (parts: ImportParts) => Promise<T>,
): Promise<T> {
  db.transaction(() => {
    // Imported messages are history, so they are not logged.
    endHubLog(db);
    // Rankings of the empty node would otherwise be shown until they expire.
    deleteRankings(db);
  });
  const network = networkOf(config.protocol.network);
  const onFault = (cause: unknown) => log.error({ err: cause }, "A record could not be stored");
  const bound = createSizeBound({ db, maxBytes: config.index.max_bytes });
  const schedule = engineSchedule(network, config.protocol.engine_versions);
  const engine = createIngestEngine({ db, network, schedule, clock, onFault, bound });
  const rules = () => ({ network, nowUnixSecs: nowSecs(clock), isHistory: true });
  const threads =
    fileBytes < MIN_BYTES_FOR_THREADS
      ? undefined
      : startVerifierThreads(config, rules, workerUrl("verifier"), () => {});
  const sink = createImportSink({ db, engine, verifier: threads ?? createInlineVerifier(rules), fileBytes });
  const positions = { get: (key: string) => getPosition(db, key) };
  try {
    return await work({ sink, positions, clock, signal: shutdown.signal });
  } finally {
    await threads?.stop();
  }
}

/**
 * Imports the file of `nextImport`. If its end cannot be read, it counts as imported up to there.
 *
 * @returns what it refused, most frequent first.
 * @throws UserError if the file is missing; RetryableError if a record could not be stored; see `runImport`.
 */
export async function runNextImport(
  common: Common,
  db: IndexDatabase,
  { path, starting }: { readonly path: string; readonly starting: Pick<Starting, "show"> },
): Promise<readonly RefusalClass[]> {
  const { config, log, shutdown } = common;
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile())
    throw new UserError(
      `${path} is missing, but its import is due: put it back, or delete ${nextImportFile(config.data.dir)}`,
    );
  const task = `importing ${path}`;
  await starting.show({ task, share: 0 });
  log.info({ path, bytes: found.size }, "Importing");
  const { outcome, detail, summary, elapsedMs } = await withImport(
    common,
    { db, fileBytes: found.size },
    (parts) =>
      runImport({
        ...parts,
        path,
        onProgress: (step) =>
          void starting.show({
            task,
            ...(step.stage && { stage: step.stage.stage }),
            share: step.stage?.done ?? shareDone(step),
            messages: step.records,
          }),
      }),
  );
  // The rest of the start takes seconds.
  await starting.show({ task: OPENING });
  db.checkpoint();
  shutdown.signal.throwIfAborted();
  if (outcome === "unstored" || outcome === "stopped")
    throw new RetryableError(`${path}: ${detail}; the log says why. The next start continues.`);
  const { accepted, known, refused, refusals } = summary;
  const facts = { path, accepted, known, refused, durationMs: elapsedMs };
  log.info(facts, "Imported the file");
  for (const { code, reason, count } of refusals) log.warn({ code, count }, `Refused records: ${reason}`);
  if (outcome !== "complete") log.warn({ path, detail }, "The file could not be read to its end");
  endNextImport(config.data.dir);
  return refusals;
}
