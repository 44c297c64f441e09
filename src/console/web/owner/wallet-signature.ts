import { OperationDeclined } from "./operation.ts";
import type { Owner } from "./owner.ts";
import { CHAIN_ID, type SignedOperation, typedDataOf } from "./typed-data.ts";
import type { WalletProvider } from "./wallets.ts";

/** Codes of EIP-1193, EIP-3085 and JSON-RPC. */
const DECLINED = 4001;
const UNKNOWN_CHAIN = 4902;
const KEY_SIGNATURE = /^0x[0-9a-fA-F]{130}$/;
const NOTHING = "Nothing was sent.";

const codeOf = (cause: unknown): number => {
  if (typeof cause !== "object" || cause === null) return 0;
  const { code, data } = cause as { code?: unknown; data?: { originalError?: { code?: unknown } } };
  // Some wallets wrap the code of an unknown chain.
  return Number(data?.originalError?.code ?? code) || 0;
};

const DECLINED_SENTENCE = `You declined in the wallet. ${NOTHING}`;

/** Says in a sentence why a wallet did not do what it was asked. */
export function walletFailure(cause: unknown): OperationDeclined {
  if (cause instanceof OperationDeclined) return cause;
  if (codeOf(cause) === DECLINED) return new OperationDeclined(DECLINED_SENTENCE);
  const words = cause instanceof Error || (typeof cause === "object" && cause && "message" in cause);
  const message = words ? String((cause as Error).message).slice(0, 200) : "no reason given";
  return new OperationDeclined(`The wallet did not sign: ${message}. ${NOTHING}`);
}

/** The accounts that the wallet lets this page use, in lower case. With `ask`, the wallet may ask its user. */
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

/** Short forms of addresses, for sentences. */
export const shortAddress = (address: string) => `${address.slice(0, 6)}…${address.slice(-4)}`;

async function useAccount(provider: WalletProvider, { fid, address }: Owner): Promise<void> {
  const known = await accountsOf(provider, { ask: false });
  const accounts = known.length > 0 ? known : await accountsOf(provider, { ask: true });
  if (accounts.includes(address)) return;
  const [current] = accounts;
  const instead = current
    ? `The account of your wallet is ${shortAddress(current)}`
    : "Your wallet shows no account";
  throw new OperationDeclined(
    `${instead}, but fid ${fid} belongs to ${shortAddress(address)}. Choose that account in the wallet. ${NOTHING}`,
  );
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
        ? `Your wallet does not know OP Mainnet (chain ${CHAIN_ID}), which signatures of custody name. Add it in the wallet, then try again. ${NOTHING}`
        : `Your wallet stands on another chain and did not change to OP Mainnet (chain ${CHAIN_ID}). Choose it in the wallet, then try again. ${NOTHING}`,
    );
  }
}

/**
 * Has the wallet sign an operation as the owner's custody address: on the chain of the registry, which it may be asked to change to.
 *
 * @throws OperationDeclined
 */
export async function signWithWallet(owner: Owner, operation: SignedOperation): Promise<string> {
  const provider = owner.wallet?.provider;
  if (!provider)
    throw new OperationDeclined(`This browser does not have ${owner.walletName} any more. ${NOTHING}`);
  try {
    await useAccount(provider, owner);
    await useChain(provider);
    const signature = await provider.request({
      method: "eth_signTypedData_v4",
      params: [owner.address, JSON.stringify(typedDataOf(operation))],
    });
    if (typeof signature === "string" && KEY_SIGNATURE.test(signature)) return signature;
    throw new OperationDeclined(
      `The wallet gave the signature of a contract account. The node verifies those of keys alone. ${NOTHING}`,
    );
  } catch (cause) {
    throw walletFailure(cause);
  }
}
