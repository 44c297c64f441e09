import type { Rejection } from "../protocol/rejection.ts";
import type { Clock } from "../runtime/clock.ts";
import { createLogThrottle } from "../runtime/log-throttle.ts";
import type { Logger } from "../runtime/logger.ts";
import type { PeerError } from "./peer.ts";

/** Logs what goes wrong while following, which an upstream can make happen as often as it likes. */
export interface FaultLog {
  /** Something failed and is tried again. */
  fault(what: string, cause: unknown): void;
  /** A record breaks the protocol's rules and was passed over. */
  refused(rejection: Rejection): void;
  /** The upstream is no Farcaster node; told once by whoever calls this. */
  peer(error: PeerError): void;
}

const INTERVAL_MS = 60_000;

/** At most one line of either kind a minute; it tells how many there were since the one before. */
export function createFaultLog({ log, clock }: { log: Logger; clock: Clock }): FaultLog {
  const faults = createLogThrottle({ clock, intervalMs: INTERVAL_MS });
  const refusals = createLogThrottle({ clock, intervalMs: INTERVAL_MS });
  return {
    fault: (what, cause) =>
      faults((others) => log.warn({ ...wordsOf(cause), ...others }, `Tried again: ${what}`)),
    peer: ({ message }) => log.error(`${message}. It is asked again and again`),
    refused: ({ code, reason }) =>
      refusals((others) => log.warn({ code, reason, ...others }, "Passed over a record of the upstream")),
  };
}

/** What the upstream or the way there says has its words; the place in this program where it arrived tells nothing. */
function wordsOf(cause: unknown): { readonly reason: string } | { readonly err: unknown } {
  const isOfCall = cause instanceof Error && "code" in cause && "details" in cause;
  return isOfCall ? { reason: cause.message } : { err: cause };
}
