import { Rejection } from "../protocol/rejection.ts";
import { decodeMessage, type SignedMessage } from "../protocol/signed-message.ts";
import { validateMessage } from "../protocol/validate/message.ts";
import type { FarcasterNetwork } from "../protocol/wire/generated/message.ts";
import type { Scope } from "./scope.ts";

/** By what the records of the followed node are judged. */
export interface RelayRules {
  readonly network: FarcasterNetwork;
  readonly nowUnixSecs: number;
  readonly scope: Scope;
  /** Number of data shards. */
  readonly shards: number;
  /** Told of a record that breaks the protocol's rules, which is passed over. */
  readonly onRefused: (rejection: Rejection) => void;
}

/**
 * Decodes a message and holds it against every rule that it decides alone, its signature among them: the followed node's
 * word is taken for what a message does to the network's state, not for what somebody signed. Undefined for one that is
 * not wanted, which is not looked at any closer, and for one that breaks a rule.
 */
export function validateRelayed(
  { network, nowUnixSecs, onRefused }: RelayRules,
  bytes: Uint8Array,
  isWanted: (message: SignedMessage) => boolean,
): SignedMessage | undefined {
  const message = decodeMessage(bytes);
  if (message instanceof Rejection) {
    onRefused(message);
    return undefined;
  }
  if (!isWanted(message)) return undefined;
  const refusal = validateMessage(message, { network, nowUnixSecs, isHistory: true });
  if (refusal) onRefused(refusal);
  return refusal ? undefined : message;
}
