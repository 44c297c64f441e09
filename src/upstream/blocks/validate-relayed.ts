import { decodeMessage, type SignedMessage } from "../../protocol/message/signed-message.ts";
import type { Rejection } from "../../protocol/rejection.ts";
import { validateMessage } from "../../protocol/validate/message.ts";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import type { Scope } from "../scope.ts";

/** The rules that records of the upstream are checked against. */
export interface RelayRules {
  readonly network: FarcasterNetwork;
  /** The address that signs fnames; undefined where they need no signature. */
  readonly nameServer: Uint8Array | undefined;
  readonly nowUnixSecs: number;
  readonly scope: Scope;
  /** Number of data shards. */
  readonly shards: number;
  /** See `Peer`. */
  readonly hasBlockShard: boolean;
  /** Whether the events of blocks are written to the log of hub events. */
  readonly logsHubEvents: boolean;
  /** Called for a record that breaks the protocol's rules; it is skipped. */
  readonly onRefused: (rejection: Rejection) => void;
}

/**
 * Decodes a message and applies every rule that depends on it alone, its signature included: the upstream is trusted
 * for the effect of a message on the network's state, not for who signed it. Returns undefined for a message that
 * breaks a rule, and for one that `isRequested` rejects, which is not validated.
 */
export function validateRelayed(
  { network, nowUnixSecs, onRefused }: RelayRules,
  bytes: Uint8Array,
  isRequested: (message: SignedMessage) => boolean,
): SignedMessage | undefined {
  const decoded = decodeMessage(bytes);
  if (!decoded.ok) {
    onRefused(decoded.error);
    return undefined;
  }
  const message = decoded.value;
  if (!isRequested(message)) return undefined;
  const refusal = validateMessage(message, { network, nowUnixSecs, isHistory: true });
  if (refusal) onRefused(refusal);
  return refusal ? undefined : message;
}
