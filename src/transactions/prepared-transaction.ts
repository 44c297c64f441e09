import type { Hex } from "../protocol/validate/eth.ts";
import { OPTIMISM_CHAIN_ID, TYPED_DATA, type TypedDataName } from "./contracts.ts";

/** A view that the user's wallet has to call on chain because this node cannot. */
export interface ChainRead {
  readonly to: Hex;
  readonly data: Hex;
  /** Member of the prepared transaction that the result is for. */
  readonly gives: "value" | "typed_data.message.nonce" | "deprecated_at";
}

/** What a wallet signs before the transaction is complete. Numbers are in decimal. */
export interface TypedData {
  readonly domain: (typeof TYPED_DATA)[TypedDataName]["domain"];
  readonly types: Readonly<Record<string, { readonly name: string; readonly type: string }[]>>;
  readonly primaryType: string;
  readonly message: Readonly<Record<string, string | number | null>>;
}

/** A transaction for a user's wallet to send. No key of this service signs it. */
export interface PreparedTransaction {
  readonly chain_id: number;
  readonly to: Hex;
  /** Null until `typed_data` is signed and its signature is sent with the next request. */
  readonly data: Hex | null;
  /** In wei, decimal. Null if the wallet must read the price. */
  readonly value: string | null;
  /** Who must send it. Null if anyone may. */
  readonly sender: Hex | null;
  readonly typed_data?: TypedData;
  /** Who must sign `typed_data`. */
  readonly signer?: Hex;
  readonly reads: ChainRead[];
  /** When it fails or its price changes, in unix seconds. Null if it does not expire. */
  readonly expires_at: number | null;
  readonly warnings: string[];
}

/** Orders the members as the documents do. */
export function prepared({
  to,
  data,
  value,
  sender,
  reads = [],
  warnings = [],
  expires_at,
  ...signed
}: Omit<PreparedTransaction, "chain_id" | "reads" | "warnings"> &
  Partial<Pick<PreparedTransaction, "reads" | "warnings">>): PreparedTransaction {
  return { chain_id: OPTIMISM_CHAIN_ID, to, data, value, sender, ...signed, reads, expires_at, warnings };
}

/** Returns the typed data that a wallet signs, with its message. */
export function typedData(name: TypedDataName, message: TypedData["message"]): TypedData {
  const { domain, types, primaryType } = TYPED_DATA[name];
  const fields = Object.entries(types).map(([type, members]) => [type, [...members]]);
  return { domain, types: Object.fromEntries(fields), primaryType, message };
}
