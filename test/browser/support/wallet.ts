import type { Page } from "playwright-core";
import { isAddressEqual, type PrivateKeyAccount, type TypedDataDefinition } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { demoKeys } from "../../../src/demo/keys.ts";

export interface WalletOptions {
  /** As it announces itself (EIP-6963). */
  readonly name?: string;
  readonly icon?: string;
  /** The chain that it is on; 10 if omitted. */
  readonly chainId?: number;
  /** The chains that it can be switched to; any if omitted. */
  readonly knownChains?: readonly number[];
  /** The methods that its user declines, until `declines` is changed. */
  readonly declines?: readonly string[];
  /** Whether it announces no change to the page. */
  readonly isSilent?: boolean;
  /** Whether it is `window.ethereum` and announces nothing. */
  readonly legacy?: boolean;
}

/** A wallet in the page, whose user confirms every prompt that is not declined. */
export interface TestWallet {
  /** The prompts so far: `eth_requestAccounts`, `wallet_switchEthereumChain`, and the primary type of what was signed. */
  readonly prompts: string[];
  /** What was signed. */
  readonly signed: TypedDataDefinition[];
  /** The transactions that it was asked to send, with the chain that it was on. */
  readonly sent: WalletTransaction[];
  declines: readonly string[];
  chainId: number;
  /** Chooses another account, as its user does in the wallet. */
  switchAccount(account: PrivateKeyAccount): Promise<void>;
  switchChain(chainId: number): Promise<void>;
}

interface WalletTransaction {
  readonly from: string;
  readonly to: string;
  readonly data: string;
  readonly chainId?: number;
}

interface WalletRequest {
  readonly method: string;
  readonly params?: readonly unknown[];
}

type WalletAnswer = { readonly result: unknown } | { readonly code: number; readonly message: string };

const DEFAULT_CHAIN = 10;
const DECLINED = 4001;
const UNKNOWN_CHAIN = 4902;
const UNSUPPORTED = 4200;

/** The custody account of a person of the demo network. */
export function demoAccount(fid: number): PrivateKeyAccount {
  const keys = demoKeys(fid);
  if (!keys) throw new Error(`fid ${fid} is not a person of the demo network`);
  return privateKeyToAccount(keys.custody.privateKey);
}

const hex = (chainId: number) => `0x${chainId.toString(16)}`;
let wallets = 0;

/** Gives a page a wallet. Call it before the page is opened; several wallets have different names. */
export async function injectWallet(
  page: Page,
  first: PrivateKeyAccount,
  options: WalletOptions = {},
): Promise<TestWallet> {
  let account = first;
  let isConnected = false;
  const prompts: string[] = [];
  const signed: TypedDataDefinition[] = [];
  const sent: WalletTransaction[] = [];
  const id = `testWallet${++wallets}`;
  const emit = (event: string, value: unknown) =>
    page.evaluate(
      ([name, event, value]) => dispatchEvent(new CustomEvent(`${name}:${event}`, { detail: value })),
      [id, event, value] as const,
    );
  const wallet: TestWallet = {
    prompts,
    signed,
    sent,
    declines: options.declines ?? [],
    chainId: options.chainId ?? DEFAULT_CHAIN,
    async switchAccount(next) {
      account = next;
      if (isConnected && !options.isSilent) await emit("accountsChanged", [next.address]);
    },
    async switchChain(chainId) {
      wallet.chainId = chainId;
      await emit("chainChanged", hex(chainId));
    },
  };

  async function answer({ method, params = [] }: WalletRequest): Promise<WalletAnswer> {
    const prompt = (what: string): WalletAnswer | undefined => {
      prompts.push(what);
      return wallet.declines.includes(method)
        ? { code: DECLINED, message: "User rejected the request." }
        : undefined;
    };
    switch (method) {
      case "eth_chainId":
        return { result: hex(wallet.chainId) };
      case "eth_accounts":
        return { result: isConnected ? [account.address] : [] };
      case "eth_requestAccounts": {
        const declined = isConnected ? undefined : prompt(method);
        if (declined) return declined;
        isConnected = true;
        return { result: [account.address] };
      }
      case "wallet_switchEthereumChain": {
        const chainId = Number((params[0] as { chainId: string }).chainId);
        if (options.knownChains && !options.knownChains.includes(chainId))
          return { code: UNKNOWN_CHAIN, message: "Unrecognized chain ID." };
        const declined = prompt(method);
        if (declined) return declined;
        wallet.chainId = chainId;
        return { result: null };
      }
      case "eth_signTypedData_v4": {
        const data = JSON.parse(String(params[1])) as TypedDataDefinition;
        if (!isAddressEqual(params[0] as `0x${string}`, account.address))
          return { code: DECLINED, message: "The account is not connected." };
        const chainId = data.domain?.chainId;
        if (chainId !== undefined && Number(chainId) !== wallet.chainId)
          return { code: -32_603, message: `Provided chainId "${chainId}" must match the active chainId` };
        const declined = prompt(data.primaryType);
        if (declined) return declined;
        signed.push(data);
        return { result: await account.signTypedData(data) };
      }
      case "eth_sendTransaction": {
        const declined = prompt(method);
        if (declined) return declined;
        sent.push({ ...(params[0] as WalletTransaction), chainId: wallet.chainId });
        return { result: `0x${"11".repeat(32)}` };
      }
      case "personal_sign": {
        const declined = prompt(method);
        if (declined) return declined;
        return { result: await account.signMessage({ message: { raw: params[0] as `0x${string}` } }) };
      }
      default:
        return { code: UNSUPPORTED, message: `${method} is not supported` };
    }
  }

  await page.exposeFunction(id, answer);
  await page.addInitScript(
    ({ id, name, icon, legacy }) => {
      const target = new EventTarget();
      const listeners = new Map<unknown, EventListener>();
      for (const event of ["accountsChanged", "chainChanged"])
        addEventListener(`${id}:${event}`, (message) =>
          target.dispatchEvent(new CustomEvent(event, { detail: (message as CustomEvent).detail })),
        );
      const provider = {
        async request(call: unknown) {
          // biome-ignore lint/suspicious/noExplicitAny: the function is exposed by the test
          const answer = await (globalThis as any)[id](call);
          if ("result" in answer) return answer.result;
          throw Object.assign(new Error(answer.message), { code: answer.code });
        },
        on(event: string, listener: (value: unknown) => void) {
          const wrapped = (message: Event) => listener((message as CustomEvent).detail);
          listeners.set(listener, wrapped);
          target.addEventListener(event, wrapped);
        },
        removeListener(event: string, listener: unknown) {
          const wrapped = listeners.get(listener);
          if (wrapped) target.removeEventListener(event, wrapped);
        },
      };
      if (legacy) {
        Object.assign(globalThis, { ethereum: provider });
        return;
      }
      const info = { uuid: id, name, icon, rdns: `example.${id.toLowerCase()}` };
      const announce = () =>
        dispatchEvent(
          new CustomEvent("eip6963:announceProvider", { detail: Object.freeze({ info, provider }) }),
        );
      addEventListener("eip6963:requestProvider", announce);
      announce();
    },
    {
      id,
      name: options.name ?? "Test Wallet",
      icon:
        options.icon ??
        "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'%3E%3Ccircle cx='4' cy='4' r='4'/%3E%3C/svg%3E",
      legacy: options.legacy ?? false,
    },
  );
  return wallet;
}
