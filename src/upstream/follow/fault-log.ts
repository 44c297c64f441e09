import type { UnknownRecord } from "../../db/index/unknown-records.ts";
import type { Rejection } from "../../protocol/rejection.ts";
import { FOREIGN_NAME } from "../../protocol/validate/username-proof.ts";
import type { Clock } from "../../runtime/clock.ts";
import { createLogThrottle } from "../../runtime/log/log-throttle.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import type { PeerError } from "../calls/peer.ts";

/** Logs the faults of following at a bounded rate, because an upstream can cause them as often as it likes. */
interface UpstreamFaultLog {
  /** Something failed and is retried. */
  fault(what: string, cause: unknown): void;
  /** A record breaks the protocol's rules and was skipped. */
  refused(rejection: Rejection): void;
  /** The network has decided a record of a kind that this program does not know. */
  unknown(record: Pick<UnknownRecord, "kind" | "number">): void;
  /** The upstream is not a Farcaster node. */
  peer(error: PeerError): void;
}

const INTERVAL_MS = 60_000;
const FOREIGN_NAMES =
  "Skipped usernames of the upstream that another name server has signed, as a demo network does: users of this node have no such names";

/** Logs at most one line of each kind a minute, with the number of those suppressed since the previous line. */
export function createUpstreamFaultLog({ log, clock }: { log: Logger; clock: Clock }): UpstreamFaultLog {
  const faults = createLogThrottle({ clock, intervalMs: INTERVAL_MS });
  const refusals = createLogThrottle({ clock, intervalMs: INTERVAL_MS });
  const unknowns = createLogThrottle({ clock, intervalMs: INTERVAL_MS });
  const peers = createLogThrottle({ clock, intervalMs: INTERVAL_MS });
  const foreignNames = createLogThrottle({ clock, intervalMs: INTERVAL_MS });
  return {
    fault: (what, cause) =>
      faults((others) => log.warn({ ...detailsOf(cause), ...others }, `Retrying: ${what}`)),
    peer: ({ message }) => peers((others) => log.error(others, `${message}. The node keeps retrying`)),
    refused: ({ code, reason }) =>
      reason === FOREIGN_NAME
        ? foreignNames((others) => log.warn(others, FOREIGN_NAMES))
        : refusals((others) => log.warn({ code, reason, ...others }, "Skipped a record of the upstream")),
    unknown: ({ kind, number }) =>
      unknowns((others) =>
        log.warn({ kind, number, ...others }, "Kept a record of a kind that this program does not know"),
      ),
  };
}

/**
 * For errors that the upstream or the network reported, the message is enough; a stack of this program adds nothing.
 */
function detailsOf(cause: unknown): { readonly reason: string } | { readonly err: unknown } {
  const isCallError = cause instanceof Error && "code" in cause && "details" in cause;
  return isCallError ? { reason: cause.message } : { err: cause };
}
