import { privateKeyToAccount } from "viem/accounts";

/** A claim of the protocol that an address belongs to a user on mainnet, signed by a wallet of viem. */
export async function verificationClaim(fid: number) {
  const wallet = privateKeyToAccount(`0x${"37".repeat(32)}`);
  const blockHash = `0x${"0b".repeat(32)}` as const;
  const ethSignature = await wallet.signTypedData({
    domain: {
      name: "Farcaster Verify Ethereum Address",
      version: "2.0.0",
      salt: "0xf2d857f4a3edcb9b78b4d503bfe733db1e3f6cdc2b7971ee739626c97e86a558",
    },
    types: {
      VerificationClaim: [
        { name: "fid", type: "uint256" },
        { name: "address", type: "address" },
        { name: "blockHash", type: "bytes32" },
        { name: "network", type: "uint8" },
      ],
    },
    primaryType: "VerificationClaim",
    message: { fid: BigInt(fid), address: wallet.address, blockHash, network: 1 },
  });
  return { address: wallet.address, blockHash, ethSignature };
}
