import { hexToBigInt, type TypedDataDefinition } from "viem";
import { privateKeyToAccount } from "viem/accounts";

/**
 * Preloaded before an example for browsers: `window.ethereum` as a wallet offers it (EIP-1193), with one account, on
 * Ethereum until the page switches it. Like wallets, it signs only for its current chain, only with an account
 * that the page may access, and only typed data with a complete description, domain included.
 */
const account = privateKeyToAccount((process.env.WALLET_KEY ?? "") as `0x${string}`);
let chainId = 1n;
let isConnected = false;

const methods: Readonly<Record<string, (params: readonly never[]) => unknown>> = {
  eth_requestAccounts() {
    isConnected = true;
    return [account.address.toLowerCase()];
  },
  wallet_switchEthereumChain([wanted]: readonly { chainId: `0x${string}` }[]) {
    if (wanted === undefined) throw rpcError(-32_602, "no chain");
    chainId = hexToBigInt(wanted.chainId);
    return null;
  },
  eth_signTypedData_v4([address, json]: readonly string[]) {
    const typedData: TypedDataDefinition = JSON.parse(json ?? "");
    if (!isConnected || address !== account.address.toLowerCase())
      throw rpcError(4100, "unauthorized account");
    const { domain = {}, types } = typedData;
    if (BigInt(domain.chainId ?? 0) !== chainId)
      throw rpcError(-32_602, "chainId must match the active chain");
    const described = (types as { EIP712Domain?: readonly { name: string }[] }).EIP712Domain ?? [];
    const names = described.map(({ name }) => name);
    if (names.join() !== Object.keys(domain).join()) throw rpcError(-32_602, "EIP712Domain is not described");
    return account.signTypedData(typedData);
  },
};

function rpcError(code: number, message: string): Error {
  return Object.assign(new Error(message), { code });
}

const ethereum = {
  async request({ method, params = [] }: { method: string; params?: readonly never[] }): Promise<unknown> {
    const handle = methods[method];
    if (handle === undefined) throw rpcError(-32_601, `no method ${method}`);
    return handle(params);
  },
};

Object.assign(globalThis, { window: { ethereum } });
