import type { SideFile } from "../../db/side/side-file.ts";
import { type Clock, nowSecs, type SetTimer } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import {
  type CheckedManifest,
  dropSharesBefore,
  dueDomains,
  hasShares,
  putChecked,
  putShares,
  type Share,
} from "./catalog-store.ts";
import { type RankOptions, rankApps } from "./rank-apps.ts";

const ROUND_MS = 600_000;
const FIRST_ROUND_MS = 5_000;
const DAY_SECS = 86_400;
const SHARED_SECS = 30 * DAY_SECS;
/** Manifests that are fetched in a round, one after the other. */
const MAX_CHECKS = 100;

export interface CatalogDeps {
  /** Open for writing. */
  readonly file: SideFile;
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
export interface Catalog {
  noteShares(shares: readonly Share[]): void;
  /** Ranks the apps and checks the manifests that are due. */
  round(): Promise<void>;
  stop(): Promise<void>;
}

export function startCatalog(deps: CatalogDeps): Catalog {
  const { file, scoresOf, earlier, turn, check, clock, setTimer, log, onChange } = deps;
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

  async function round(): Promise<void> {
    const at = nowSecs(clock);
    await readEarlier(at);
    const rank = () =>
      file.write((db) => {
        dropSharesBefore(db, at - SHARED_SECS);
        return new Set(rankApps(db, { scoresOf, nowSecs: at }));
      });
    const listed = rank();
    if (!listed.ok) return;
    const due = file.read((db) => dueDomains(db, at - DAY_SECS, MAX_CHECKS * 10));
    let checks = 0;
    for (const domain of due.ok ? due.value : []) {
      if (isStopped) return;
      if (!listed.value.has(domain) || checks >= MAX_CHECKS) continue;
      checks += 1;
      const checked = await check(domain);
      if (checked) file.write((db) => putChecked(db, domain, checked, at));
    }
    if (checks > 0) rank();
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
    noteShares(shares) {
      if (shares.length > 0) file.write((db) => putShares(db, shares));
    },
    round,
    async stop() {
      isStopped = true;
      cancel?.();
      await running;
    },
  };
}
