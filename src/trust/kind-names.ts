import { MessageType } from "../protocol/wire/generated/message.ts";
import { OnChainEventType } from "../protocol/wire/generated/on-chain.ts";
import { FNAME_KIND, MAX_ON_CHAIN_TYPE, MESSAGE_KIND_UNIT } from "./trie-key.ts";

/** Returns the name of a kind of keys, for operators: `cast_add`, `event_signer`, `fname`. */
export function kindName(kind: number): string {
  if (kind === FNAME_KIND) return "fname";
  const name = kind <= MAX_ON_CHAIN_TYPE ? OnChainEventType[kind] : MessageType[kind / MESSAGE_KIND_UNIT];
  return name?.replace(/^(MESSAGE_TYPE_|(EVENT_)TYPE_)/, "$2").toLowerCase() ?? `kind_${kind}`;
}
