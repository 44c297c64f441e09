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
/** Manifests that are fetched in a round, one after the other. */
const MAX_CHECKS = 100;
/** After which a domain is tried again that did not respond. */
const RETRY_SECS = 4 * 3_600;

export interface CatalogDeps {
  /** Open for writing. */
  readonly file: SideFile;
  readonly bounds: CatalogBounds;
  readonly scoresOf: RankOptions["scoresOf"];
  /** What earlier casts shared, a read at a time. It is asked while nothing is known, as after the first start. */
  readonly earlier: (times: { readonly from: number; readonly until: number }) => Iterable<readonly Share[]>;
  /** Gives other work of the thread a turn. */
  readonly turn: () => Promise<void>;
  /** Fetches and checks the manifest of a domain; undefined where it cannot be fetched now. */
  readonly check: (domain: string) => Promise<CheckedManifest | undefined>;
  readonly clock: Clock;
  readonly setTimer: SetTimer;
  readonly log: Pick<Logger, "error">;
  /** Called after a round. */
  readonly onChange: () => void;
}

/** Keeps the mini apps that casts share, with their manifests, which are checked each day. */
export type Catalog = ReturnType<typeof startCatalog>;

export function startCatalog(deps: CatalogDeps) {
  const { file, bounds, scoresOf, earlier, turn, check, clock, setTimer, log, onChange } = deps;
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();

  const known = file.read(hasShares);
  let isUnread = known.ok && !known.value;

  /** Reads what was shared before this node watched. A file that had shares at the start has had its turn. */
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
