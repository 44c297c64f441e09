import type { SideFile } from "../../db/side/side-file.ts";
import { type Clock, nowSecs, type SetTimer } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import {
  type CatalogBounds,
  type CheckedManifest,
  dropSharesBefore,
  dueDomains,
  hasShares,
  postponeCheck,
  putChecked,
  putShares,
  type Share,
  trimCatalog,
} from "./catalog-store.ts";
import { type RankOptions, rankApps } from "./rank-apps.ts";

const ROUND_MS = 600_000;
const FIRST_ROUND_MS = 5_000;
const DAY_SECS = 86_400;
const SHARED_SECS = 30 * DAY_SECS;
/** Maximum number of manifests fetched per round, one after another. */
const MAX_CHECKS = 100;
/** Time after which a domain that did not respond is tried again. */
const RETRY_SECS = 4 * 3_600;

export interface CatalogDeps {
  /** Open for writing. */
  readonly file: SideFile;
  readonly bounds: CatalogBounds;
  readonly scoresOf: RankOptions["scoresOf"];
  /** Yields what earlier casts shared, one read at a time. Used if the catalog is empty, such as after the first start. */
  readonly earlier: (times: { readonly from: number; readonly until: number }) => Iterable<readonly Share[]>;
  /** Lets other work of the thread run. */
  readonly turn: () => Promise<void>;
  /** Fetches and checks the manifest of a domain; undefined if it cannot be fetched now. */
  readonly check: (domain: string) => Promise<CheckedManifest | undefined>;
  readonly clock: Clock;
  readonly setTimer: SetTimer;
  readonly log: Pick<Logger, "error">;
  /** Called after a round. */
  readonly onChange: () => void;
}

/** Stores the mini apps that casts share, with their manifests, which are checked daily. */
export type Catalog = ReturnType<typeof startCatalog>;

export function startCatalog(deps: CatalogDeps) {
  const { file, bounds, scoresOf, earlier, turn, check, clock, setTimer, log, onChange } = deps;
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();

  const known = file.read(hasShares);
  let isUnread = known.ok && !known.value;

  /** Reads what was shared before this node watched. Skipped if the file already had shares at the start. */
  async function readEarlier(at: number): Promise<void> {
    if (!isUnread) return;
    isUnread = false;
    const found: Share[] = [];
    for (const shares of earlier({ from: at - SHARED_SECS, until: at })) {
      if (isStopped) return;
      found.push(...shares);
      await turn();
    }
    file.write((db) => putShares(db, found));
  }

  /** Ranks the apps and checks the manifests that are due. */
  async function round(): Promise<void> {
    const at = nowSecs(clock);
    await readEarlier(at);
    const rank = () =>
      file.write((db) => {
        dropSharesBefore(db, at - SHARED_SECS);
        trimCatalog(db, bounds, at - DAY_SECS);
        rankApps(db, { scoresOf, nowSecs: at });
      });
    if (!rank().ok) return;
    const due = file.read((db) => dueDomains(db, at - DAY_SECS, MAX_CHECKS));
    const domains = due.ok ? due.value : [];
    for (const domain of domains) {
      if (isStopped) return;
      const checked = await check(domain);
      file.write((db) => {
        if (checked) putChecked(db, domain, checked, at);
        else postponeCheck(db, domain, at - DAY_SECS + RETRY_SECS);
      });
    }
    if (domains.length > 0) rank();
    onChange();
  }

  let cancel: (() => void) | undefined = setTimer(FIRST_ROUND_MS, next);
  function next(): void {
    running = round()
      .catch((cause) => log.error({ err: cause }, "The catalog of mini apps could not be refreshed"))
      .finally(() => {
        if (!isStopped) cancel = setTimer(ROUND_MS, next);
      });
  }

  return {
    noteShares(shares: readonly Share[]): void {
      if (shares.length > 0) file.write((db) => putShares(db, shares));
    },
    round,
    async stop(): Promise<void> {
      isStopped = true;
      cancel?.();
      await running;
    },
  };
}
