import { endHubLog } from "../../db/index/hub-log.ts";
import { type BlockHeights, type BlockHeightsDeps, openBlockHeights } from "./block-heights.ts";

/** How long the state has to respond again before the logs are opened again. */
const RETRY_INTERVAL_MS = 1000;

/** The logs of an index whose node is starting, or serves. */
export interface OpenLogs {
  /** Undefined until the state has responded. */
  readonly heights: BlockHeights | undefined;
  /** Stops trying. */
  stop(): void;
}

export interface OpenLogsDeps extends BlockHeightsDeps {
  /** Whether hub events are logged. */
  readonly isLogging: boolean;
}

/**
 * Opens the logs of an index. While the state does not respond, opening is repeated and this resolves after the first try, because
 * reads need no log.
 */
export async function openLogs(deps: OpenLogsDeps): Promise<OpenLogs> {
  const { db, isLogging, isNumbering, onFault } = deps;
  let heights: BlockHeights | undefined;
  let retry: Timer | undefined;
  let isStopped = false;

  async function open(): Promise<void> {
    try {
      heights = await openBlockHeights(deps);
    } catch (cause) {
      onFault(cause);
      if (!isStopped) retry = setTimeout(open, RETRY_INTERVAL_MS);
    }
  }

  // What is merged now will be missing in the log.
  if (isNumbering && !isLogging) db.transaction(() => endHubLog(db));
  await open();
  return {
    get heights() {
      return heights;
    },
    stop() {
      isStopped = true;
      clearTimeout(retry);
    },
  };
}
