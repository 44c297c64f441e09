import { keccak_256 } from "@noble/hashes/sha3.js";
import { pageConfig } from "../../page-config.ts";
import * as msg from "../../text/en/manage/owner.ts";
import { OperationDeclined } from "../operation.ts";
import type { Owner } from "../owner.ts";
import { toHex } from "../session-request.ts";
import type { WalletProvider } from "./wallets.ts";

/** OP Mainnet, the chain of the id registry. */
const CHAIN_ID = 10;

/** What the custody address signs for one request. */
interface SignedOperation {
  readonly op: string;
  readonly fid: number;
  /** Unix seconds. */
  readonly signedAt: number;
  readonly nonce: string;
  readonly requestHash: string;
}

/** Returns the keccak256 of the body as it is sent; of zero bytes without a body. */
export function requestHashOf(body: string): string {
  return `0x${toHex(keccak_256(new TextEncoder().encode(body)))}`;
}

/** Returns the EIP-712 data in the format of wallets. */
function typedDataOf(message: SignedOperation) {
  const primaryType = `${pageConfig.domain}SignedOp`;
  const field = (name: string, type: string) => ({ name, type });
  return {
    domain: { name: pageConfig.domain, version: "1", chainId: CHAIN_ID },
    types: {
      EIP712Domain: [field("name", "string"), field("version", "string"), field("chainId", "uint256")],
      [primaryType]: [
        field("op", "string"),
        field("fid", "uint64"),
        field("signedAt", "uint256"),
        field("nonce", "bytes32"),
        field("requestHash", "bytes32"),
      ],
    },
    primaryType,
    message,
  };
}

/** Codes of EIP-1193, EIP-3085 and JSON-RPC. */
const DECLINED = 4001;
const UNKNOWN_CHAIN = 4902;
const KEY_SIGNATURE = /^0x[0-9a-fA-F]{130}$/;
/** A contract decides itself what it accepts. */
const CONTRACT_SIGNATURE = /^0x(?:[0-9a-fA-F]{2}){1,4096}$/;
const SIGNATURE = pageConfig.contractWallets ? CONTRACT_SIGNATURE : KEY_SIGNATURE;
const NOTHING = msg.nothingWasSent;

const codeOf = (cause: unknown): number => {
  if (typeof cause !== "object" || cause === null) return 0;
  const { code, data } = cause as { code?: unknown; data?: { originalError?: { code?: unknown } } };
  // Some wallets wrap the code of an unknown chain.
  return Number(data?.originalError?.code ?? code) || 0;
};

const DECLINED_SENTENCE = msg.youDeclinedInTheWallet(NOTHING);

/** Explains in a sentence why a wallet did not do what it was asked to. */
export function walletFailure(cause: unknown): OperationDeclined {
  if (cause instanceof OperationDeclined) return cause;
  if (codeOf(cause) === DECLINED) return new OperationDeclined(DECLINED_SENTENCE);
  const words = cause instanceof Error || (typeof cause === "object" && cause && "message" in cause);
  const message = words ? String((cause as Error).message).slice(0, 200) : msg.noReasonGiven;
  return new OperationDeclined(msg.theWalletDidNotSign(message, NOTHING));
}

/** Returns the accounts that the wallet lets this page use, in lowercase. With `ask`, the wallet may prompt its user. */
export async function accountsOf(
  provider: WalletProvider,
  { ask }: { readonly ask: boolean },
): Promise<string[]> {
  const accounts = await provider.request({ method: ask ? "eth_requestAccounts" : "eth_accounts" });
  if (!Array.isArray(accounts)) return [];
  return accounts
    .map((account) => String(account).toLowerCase())
    .filter((account) => /^0x[0-9a-f]{40}$/.test(account));
}

/** Shortens an address for sentences. */
export const shortAddress = (address: string) => `${address.slice(0, 6)}…${address.slice(-4)}`;

async function useAccount(provider: WalletProvider, { fid, address }: Owner): Promise<void> {
  const known = await accountsOf(provider, { ask: false });
  const accounts = known.length > 0 ? known : await accountsOf(provider, { ask: true });
  if (accounts.includes(address)) return;
  const [current] = accounts;
  const instead = current
    ? msg.theAccountOfYourWalletIs(shortAddress(current))
    : msg.yourWalletShowsNoAccount;
  throw new OperationDeclined(msg.butFidBelongsToChooseThat(instead, fid, shortAddress(address), NOTHING));
}

async function useChain(provider: WalletProvider): Promise<void> {
  const wanted = `0x${CHAIN_ID.toString(16)}`;
  const current = await provider.request({ method: "eth_chainId" });
  if (Number(current) === CHAIN_ID) return;
  try {
    await provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId: wanted }] });
  } catch (cause) {
    if (codeOf(cause) === DECLINED) throw new OperationDeclined(DECLINED_SENTENCE);
    throw new OperationDeclined(
      codeOf(cause) === UNKNOWN_CHAIN
        ? msg.yourWalletDoesNotKnowOp(CHAIN_ID, NOTHING)
        : msg.yourWalletIsOnAnotherNetwork(CHAIN_ID, NOTHING),
    );
  }
}

/**
 * Lets the wallet sign an operation with the owner's custody address, on the registry's chain, to which it may be asked to switch.
 *
 * @throws OperationDeclined
 */
export async function signWithWallet(owner: Owner, operation: SignedOperation): Promise<string> {
  const provider = owner.wallet?.provider;
  if (!provider) throw new OperationDeclined(msg.thisBrowserNoLongerHas(owner.walletName, NOTHING));
  try {
    await useAccount(provider, owner);
    await useChain(provider);
    const signature = await provider.request({
      method: "eth_signTypedData_v4",
      params: [owner.address, JSON.stringify(typedDataOf(operation))],
    });
    if (typeof signature === "string" && SIGNATURE.test(signature)) return signature;
    throw new OperationDeclined(msg.theWalletReturnedTheSignatureOf(NOTHING));
  } catch (cause) {
    throw walletFailure(cause);
  }
}
