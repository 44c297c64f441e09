import type { UnknownRecord } from "../../db/index/unknown-records.ts";
import type { Rejection } from "../../protocol/rejection.ts";
import { FOREIGN_NAME } from "../../protocol/validate/username-proof.ts";
import type { Clock } from "../../runtime/clock.ts";
import { createLogThrottle } from "../../runtime/log/log-throttle.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import { type PeerError, reasonOfCall } from "../calls/peer.ts";

const INTERVAL_MS = 60_000;
const FOREIGN_NAMES =
  "Skipped usernames of the upstream that another name server has signed, as a demo network does: users of this node have no such names";

/**
 * Creates a log of at most one line of each kind per minute, with the number of those suppressed since the previous line.
 */
export function createUpstreamFaultLog({ log, clock }: { log: Logger; clock: Clock }) {
  const faults = createLogThrottle({ clock, intervalMs: INTERVAL_MS });
  const refusals = createLogThrottle({ clock, intervalMs: INTERVAL_MS });
  const unknowns = createLogThrottle({ clock, intervalMs: INTERVAL_MS });
  const peers = createLogThrottle({ clock, intervalMs: INTERVAL_MS });
  const foreignNames = createLogThrottle({ clock, intervalMs: INTERVAL_MS });
  return {
    /** Logs that something failed and is retried. */
    fault: (what: string, cause: unknown): void =>
      faults((others) => log.warn({ ...detailsOf(cause), ...others }, `Retrying: ${what}`)),
    /** Logs that the upstream is not a Farcaster node. */
    peer: ({ message }: PeerError): void =>
      peers((others) => log.error(others, `${message}. The node keeps retrying`)),
    /** Logs that a record breaks the protocol's rules and was skipped. */
    refused: ({ code, reason }: Rejection): void =>
      reason === FOREIGN_NAME
        ? foreignNames((others) => log.warn(others, FOREIGN_NAMES))
        : refusals((others) => log.warn({ code, reason, ...others }, "Skipped a record of the upstream")),
    /** Logs that the network has decided a record of a kind that this program does not know. */
    unknown: ({ kind, number }: Pick<UnknownRecord, "kind" | "number">): void =>
      unknowns((others) =>
        log.warn({ kind, number, ...others }, "Kept a record of a kind that this program does not know"),
      ),
  };
}

/**
 * Returns the details to log. For errors that the upstream or the network reported, the message is enough, because a stack
 * of this program adds nothing.
 */
function detailsOf(cause: unknown): { readonly reason: string } | { readonly err: unknown } {
  const isCallError = cause instanceof Error && "code" in cause && "details" in cause;
  return isCallError ? { reason: reasonOfCall(cause) } : { err: cause };
}
