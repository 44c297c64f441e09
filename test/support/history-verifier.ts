import { createInlineVerifier, type Verifier } from "../../src/ingest/bulk/verify/verifier.ts";
import type { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../../src/runtime/clock.ts";

/** A verifier of records that the network accepted before, on the calling thread. */
export function historyVerifier(network: FarcasterNetwork, clock: Clock): Verifier {
  return createInlineVerifier(() => ({ network, nowUnixSecs: nowSecs(clock), isHistory: true }));
}
