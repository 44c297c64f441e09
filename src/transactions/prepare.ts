import { encodeAbiParameters, encodeFunctionData, hashTypedData } from "viem/utils";
import { KEY_TYPE_AUTH_ADDRESS, KEY_TYPE_ED25519 } from "../protocol/validate/chain/gasless-key.ts";
import { fromHex, type Hex, recoverAddress, toHex } from "../protocol/validate/eth.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { ChainValues } from "./chain-values.ts";
import {
  ID_GATEWAY,
  idGateway,
  KEY_GATEWAY,
  keyGateway,
  STORAGE_REGISTRY,
  storageRegistry,
  TYPED_DATA,
} from "./contracts.ts";
import { type ChainRead, type PreparedTransaction, prepared, typedData } from "./prepared-transaction.ts";

/** A signature that lets someone else pay, and until when it is valid, in unix seconds. */
export interface Sponsorship {
  readonly deadline: number;
  /** Undefined until the typed data is signed. */
  readonly signature: Hex | undefined;
}

/** A key of a user that an app requests. */
export interface KeyRequest {
  /** Custody address of the user. */
  readonly owner: Hex;
  readonly requestFid: number;
  /** Custody address of the app. */
  readonly requestSigner: Hex;
  readonly requestDeadline: number;
  /** Signature of the key request by the app's custody address. Undefined until it is signed. */
  readonly requestSignature: Hex | undefined;
  readonly sponsored: Sponsorship | undefined;
}

/** Prepares transactions on Optimism. */
export interface Transactions {
  register(request: {
    readonly address: Hex;
    readonly recovery: Hex;
    readonly extraStorage: number;
    readonly sponsored: Sponsorship | undefined;
    readonly client: string;
  }): Promise<PreparedTransaction>;
  storage(request: {
    readonly fid: number;
    readonly units: number;
    readonly client: string;
  }): Promise<PreparedTransaction>;
  /** Prepares a signer or, if `key` is a 20-byte address, an auth address. */
  key(request: KeyRequest & { readonly key: Hex; readonly client: string }): Promise<PreparedTransaction>;
}

/** How long a price from the chain stays accurate, roughly. */
const PRICE_SECS = 600;
const METADATA_TYPE = 1;
const ADDRESS_CHARS = 42;
const ECDSA_CHARS = 132;

const REQUEST_METADATA = [
  {
    type: "tuple",
    components: [
      { name: "requestFid", type: "uint256" },
      { name: "requestSigner", type: "address" },
      { name: "signature", type: "bytes" },
      { name: "deadline", type: "uint256" },
    ],
  },
] as const;

export function createTransactions({
  chain,
  clock,
}: {
  readonly chain: ChainValues;
  readonly clock: Clock;
}): Transactions {
  async function priced(
    read: Omit<ChainRead, "gives">,
    client: string,
  ): Promise<Pick<PreparedTransaction, "value" | "reads" | "expires_at">> {
    const value = await chain.price(read, client);
    if (value === null) return { value, reads: [{ ...read, gives: "value" }], expires_at: null };
    return { value: value.toString(), reads: [], expires_at: nowSecs(clock) + PRICE_SECS };
  }

  async function nonceOf(
    gateway: Hex,
    owner: Hex,
    client: string,
  ): Promise<Pick<PreparedTransaction, "reads"> & { readonly nonce: string | null }> {
    const abi = gateway === ID_GATEWAY ? idGateway : keyGateway;
    const read = { to: gateway, data: encodeFunctionData({ abi, functionName: "nonces", args: [owner] }) };
    const nonce = await chain.number(read, client);
    if (nonce !== null) return { nonce: nonce.toString(), reads: [] };
    return { nonce, reads: [{ ...read, gives: "typed_data.message.nonce" }] };
  }

  return {
    async register({ address, recovery, extraStorage, sponsored, client }) {
      const extra = BigInt(extraStorage);
      const priceCall = encodeFunctionData({ abi: idGateway, functionName: "price", args: [extra] });
      const price = await priced({ to: ID_GATEWAY, data: priceCall }, client);
      const common = { to: ID_GATEWAY, ...price };
      if (!sponsored) {
        const data = encodeFunctionData({
          abi: idGateway,
          functionName: "register",
          args: [recovery, extra],
        });
        return prepared({ ...common, data, sender: address });
      }
      const { deadline, signature } = sponsored;
      if (signature) {
        const args = [address, recovery, BigInt(deadline), signature, extra] as const;
        const data = encodeFunctionData({ abi: idGateway, functionName: "registerFor", args });
        return prepared({
          ...common,
          data,
          sender: null,
          expires_at: Math.min(deadline, price.expires_at ?? deadline),
        });
      }
      const { nonce, reads } = await nonceOf(ID_GATEWAY, address, client);
      return prepared({
        ...common,
        data: null,
        sender: null,
        typed_data: typedData("register", { to: address, recovery, nonce, deadline: `${deadline}` }),
        signer: address,
        reads: [...price.reads, ...reads],
        expires_at: deadline,
      });
    },

    async storage({ fid, units, client }) {
      const [id, count] = [BigInt(fid), BigInt(units)];
      const priceCall = encodeFunctionData({ abi: storageRegistry, functionName: "price", args: [count] });
      const price = await priced({ to: STORAGE_REGISTRY, data: priceCall }, client);
      const endCall = {
        to: STORAGE_REGISTRY,
        data: encodeFunctionData({ abi: storageRegistry, functionName: "deprecationTimestamp" }),
      };
      const endsAt = await chain.price(endCall, client);
      const hasEnded = endsAt !== null && endsAt <= BigInt(nowSecs(clock));
      return prepared({
        to: STORAGE_REGISTRY,
        data: encodeFunctionData({ abi: storageRegistry, functionName: "rent", args: [id, count] }),
        sender: null,
        ...price,
        reads: [
          ...price.reads,
          ...(endsAt === null ? [{ ...endCall, gives: "deprecated_at" } as const] : []),
        ],
        warnings: hasEnded
          ? ["the contract rents no more storage since its deprecation; the call reverts"]
          : [],
      });
    },

    async key({
      key,
      owner,
      requestFid,
      requestSigner,
      requestDeadline,
      requestSignature,
      sponsored,
      client,
    }) {
      const isAddress = key.length === ADDRESS_CHARS;
      const keyType = isAddress ? KEY_TYPE_AUTH_ADDRESS : KEY_TYPE_ED25519;
      const keyBytes = onChainKey(key);
      const common = { to: KEY_GATEWAY, value: "0" } as const;
      const request = { requestFid, key: keyBytes, deadline: `${requestDeadline}` };
      if (!requestSignature) {
        return prepared({
          ...common,
          data: null,
          sender: null,
          typed_data: typedData("signedKeyRequest", request),
          signer: requestSigner,
          expires_at: requestDeadline,
        });
      }
      const metadata = encodeAbiParameters(REQUEST_METADATA, [
        {
          requestFid: BigInt(requestFid),
          requestSigner,
          signature: requestSignature,
          deadline: BigInt(requestDeadline),
        },
      ]);
      if (!sponsored) {
        const data = encodeFunctionData({
          abi: keyGateway,
          functionName: "add",
          args: [keyType, keyBytes, METADATA_TYPE, metadata],
        });
        const reverts = await chain.reverts({ from: owner, to: KEY_GATEWAY, data }, client);
        return prepared({
          ...common,
          data,
          sender: owner,
          expires_at: requestDeadline,
          warnings: warningsOf({ isAddress, reverts }),
        });
      }
      const { deadline, signature } = sponsored;
      const warnings = warningsOf({ isAddress, reverts: null });
      if (signature) {
        const args = [
          owner,
          keyType,
          keyBytes,
          METADATA_TYPE,
          metadata,
          BigInt(deadline),
          signature,
        ] as const;
        const data = encodeFunctionData({ abi: keyGateway, functionName: "addFor", args });
        return prepared({
          ...common,
          data,
          sender: null,
          expires_at: Math.min(deadline, requestDeadline),
          warnings,
        });
      }
      const { nonce, reads } = await nonceOf(KEY_GATEWAY, owner, client);
      const message = {
        owner,
        keyType,
        key: keyBytes,
        metadataType: METADATA_TYPE,
        metadata,
        nonce,
        deadline: `${deadline}`,
      };
      return prepared({
        ...common,
        data: null,
        sender: null,
        typed_data: typedData("add", message),
        signer: owner,
        reads,
        expires_at: Math.min(deadline, requestDeadline),
        warnings,
      });
    },
  };
}

function warningsOf({
  isAddress,
  reverts,
}: {
  readonly isAddress: boolean;
  readonly reverts: boolean | null;
}): string[] {
  if (reverts === true) return ["the call reverts on chain now; do not send it before you know why"];
  if (isAddress && reverts === null)
    return ["the public documents of KeyGateway name key type 1 only; simulate the call before you send it"];
  return [];
}

/** Pads an auth address to a 32-byte word, the form in which it is registered. */
function onChainKey(key: Hex): Hex {
  return key.length === ADDRESS_CHARS ? `0x${key.slice(2).padStart(64, "0")}` : key;
}

/**
 * Reports whether the signer of a key request made its ECDSA signature. Undefined for a signature of another form, which may be from a
 * contract wallet.
 */
export function isSignedBy(request: KeyRequest & { readonly key: Hex }): boolean | undefined {
  const { key, requestFid, requestSigner, requestDeadline, requestSignature } = request;
  if (requestSignature?.length !== ECDSA_CHARS) return undefined;
  const digest = hashTypedData({
    ...TYPED_DATA.signedKeyRequest,
    message: { requestFid: BigInt(requestFid), key: onChainKey(key), deadline: BigInt(requestDeadline) },
  });
  const signer = recoverAddress(fromHex(digest), fromHex(requestSignature));
  return signer !== undefined && toHex(signer) === requestSigner;
}
