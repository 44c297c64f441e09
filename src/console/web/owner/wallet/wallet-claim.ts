import { pageConfig } from "../../page-config.ts";
import * as msg from "../../text/en/manage/owner.ts";
import { attachWallet } from "../connection.ts";
import { OperationDeclined } from "../operation.ts";
import type { Owner } from "../owner.ts";
import { createNonce } from "../session-request.ts";
import { walletFailure } from "./wallet-signature.ts";

const SIGNATURE = /^0x[0-9a-fA-F]{130}$/;

/**
 * Lets an account of the owner's wallet sign that it belongs to the owner's fid: the claim of a verification.
 *
 * @throws OperationDeclined
 */
export async function signClaim({ fid, walletName }: Owner, address: string) {
  const provider = (await attachWallet())?.provider;
  if (!provider) throw new OperationDeclined(msg.thisBrowserNoLongerHas(walletName, msg.nothingWasSent));
  // Any 32 bytes are valid: the network does not compare them with a chain.
  const blockHash = createNonce();
  const field = (name: string, type: string) => ({ name, type });
  const claim = {
    domain: {
      name: "Farcaster Verify Ethereum Address",
      version: "2.0.0",
      salt: "0xf2d857f4a3edcb9b78b4d503bfe733db1e3f6cdc2b7971ee739626c97e86a558",
    },
    types: {
      EIP712Domain: [field("name", "string"), field("version", "string"), field("salt", "bytes32")],
      VerificationClaim: [
        field("fid", "uint256"),
        field("address", "address"),
        field("blockHash", "bytes32"),
        field("network", "uint8"),
      ],
    },
    primaryType: "VerificationClaim",
    message: { fid: String(fid), address, blockHash, network: pageConfig.network },
  };
  try {
    const signature = await provider.request({
      method: "eth_signTypedData_v4",
      params: [address, JSON.stringify(claim)],
    });
    if (typeof signature === "string" && SIGNATURE.test(signature))
      return { address, block_hash: blockHash, eth_signature: signature };
    throw new OperationDeclined(msg.theWalletReturnedTheSignatureOf(msg.nothingWasSent));
  } catch (cause) {
    throw walletFailure(cause);
  }
}
