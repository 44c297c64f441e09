import type { Hex } from "viem";

/** The domain of the contract SignedKeyRequestValidator. */
export const CHAIN_REQUEST_DOMAIN = {
  name: "Farcaster SignedKeyRequestValidator",
  version: "1",
  chainId: 10,
  verifyingContract: "0x00000000fc700472606ed4fa22623acf62c60553",
} as const;
/** The domain of gasless keys. */
export const GASLESS_REQUEST_DOMAIN = { name: "Farcaster KeyAdd", version: "1", chainId: 1 } as const;

/** The typed data that an app signs to request a signer key. `deadline` is in unix seconds. */
export function signedKeyRequest(request: {
  readonly domain: object;
  readonly requestFid: number;
  readonly key: Hex;
  readonly deadline: number;
}) {
  const { domain, requestFid, key, deadline } = request;
  return {
    domain,
    types: {
      SignedKeyRequest: [
        { name: "requestFid", type: "uint256" },
        { name: "key", type: "bytes" },
        { name: "deadline", type: "uint256" },
      ],
    },
    primaryType: "SignedKeyRequest",
    message: { requestFid: BigInt(requestFid), key, deadline: BigInt(deadline) },
  } as const;
}
