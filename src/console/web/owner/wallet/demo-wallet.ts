import { signal } from "@preact/signals";
import { request } from "../../data/request.ts";
import { pageConfig } from "../../page-config.ts";
import * as msg from "../../text/en/common.ts";

/** The keys of a demo person, which are public by nature. */
export interface DemoKeys {
  readonly fid: number;
  readonly custody: { readonly address: string; readonly privateKey: string };
  /** The wallet signs with it where a page asks for its address; it shows the custody address only. */
  readonly recovery: { readonly address: string; readonly privateKey: string };
  readonly signers: readonly { readonly privateKey: string }[];
}

/** What the wallet asks the visitor. `settle` with undefined declines. */
export type DemoPrompt =
  | { readonly kind: "pick"; readonly settle: (fid: number | undefined) => void }
  | {
      readonly kind: "sign";
      readonly fid: number;
      readonly message: Readonly<Record<string, unknown>>;
      readonly settle: (agrees: true | undefined) => void;
    };

/** The name by which a page recognises this wallet (EIP-6963). */
export const DEMO_WALLET_RDNS = "console.demo";

/** An error of a wallet, as EIP-1193 defines them. */
class WalletError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}
const DECLINED = 4001;
const UNSUPPORTED = 4200;
const UNKNOWN_CHAIN = 4902;
/** OP Mainnet, the chain of the registries. */
const CHAIN_ID = "0xa";

/** For this tab only, so that a reload keeps the borrowed wallet. */
const KEPT_FID = "demo-fid";
const KEPT_TRUST = "demo-signs-unasked";

const keptFid = Number(sessionStorage.getItem(KEPT_FID));

/** Whose wallet is borrowed. */
export const borrowedFid = signal<number | undefined>(keptFid > 0 ? keptFid : undefined);

/** The question that is open. There is one at a time; others wait. */
export const demoPrompt = signal<DemoPrompt | undefined>(undefined);

/** Has the wallet sign without asking, until the tab is closed. */
export function signUnasked(): void {
  sessionStorage.setItem(KEPT_TRUST, "1");
}

const keys = new Map<number, DemoKeys>();
export async function keysOf(fid: number): Promise<DemoKeys> {
  const known = keys.get(fid);
  if (known) return known;
  const loaded = await request<DemoKeys>({ method: "GET", path: `/console/demo/key?fid=${fid}` });
  keys.set(fid, loaded);
  return loaded;
}

let last: Promise<unknown> = Promise.resolve();
/** Asks after the questions before. Throws `WalletError` 4001 when the visitor declines. */
async function ask<Answer>(
  prompt: (settle: (answer: Answer | undefined) => void) => DemoPrompt,
): Promise<Answer> {
  const before = last;
  const answer = Promise.withResolvers<Answer | undefined>();
  last = answer.promise;
  await before.catch(() => undefined);
  demoPrompt.value = prompt(answer.resolve);
  const given = await answer.promise;
  demoPrompt.value = undefined;
  if (given === undefined) throw new WalletError(DECLINED, "User rejected the request.");
  return given;
}

type Listener = (value: unknown) => void;
const listeners = new Map<string, Set<Listener>>();
function emit(event: string, value: unknown): void {
  for (const listener of listeners.get(event) ?? []) listener(value);
}

/** Borrows the wallet of a person, as if it was chosen in the wallet's own list of accounts. */
export async function borrowWallet(fid: number): Promise<string> {
  const { address } = (await keysOf(fid)).custody;
  sessionStorage.setItem(KEPT_FID, String(fid));
  borrowedFid.value = fid;
  emit("accountsChanged", [address]);
  return address;
}

/** Gives the wallet back. Pages see that it has no accounts any more. */
export function returnWallet(): void {
  sessionStorage.removeItem(KEPT_FID);
  sessionStorage.removeItem(KEPT_TRUST);
  borrowedFid.value = undefined;
  emit("accountsChanged", []);
}

async function accounts(mayAsk: boolean): Promise<readonly string[]> {
  const fid = borrowedFid.value;
  if (fid !== undefined) return [(await keysOf(fid)).custody.address];
  if (!mayAsk) return [];
  return [await borrowWallet(await ask<number>((settle) => ({ kind: "pick", settle })))];
}

/** The keys that an account of the wallet signs with, once the visitor agrees to what is signed. */
async function keyFor(address: unknown, message: Readonly<Record<string, unknown>>): Promise<string> {
  const fid = borrowedFid.value;
  const held = fid === undefined ? undefined : await keysOf(fid);
  const account = [held?.custody, held?.recovery].find(
    (one) => one?.address === String(address).toLowerCase(),
  );
  if (!held || !account) throw new WalletError(4100, "The wallet does not have this account.");
  if (sessionStorage.getItem(KEPT_TRUST) === null)
    await ask<true>((settle) => ({ kind: "sign", fid: held.fid, message, settle }));
  return account.privateKey;
}

async function signTypedData(address: unknown, json: unknown): Promise<string> {
  const typedData = typeof json === "string" ? JSON.parse(json) : json;
  const key = await keyFor(address, typedData.message);
  const { signTypedDataWith } = await import("./typed-data.ts");
  return signTypedDataWith(key, typedData);
}

async function signText(hex: unknown, address: unknown): Promise<string> {
  const { signTextWith, textOfHex } = await import("./typed-data.ts");
  const key = await keyFor(address, { [msg.text]: textOfHex(String(hex)) });
  return signTextWith(key, String(hex));
}

async function handle(method: string, params: readonly unknown[]): Promise<unknown> {
  switch (method) {
    case "eth_requestAccounts":
      return accounts(true);
    case "eth_accounts":
      return accounts(false);
    case "eth_chainId":
      return CHAIN_ID;
    case "wallet_switchEthereumChain": {
      const [wanted] = params as [{ chainId?: string } | undefined];
      if (wanted?.chainId === CHAIN_ID) return null;
      throw new WalletError(UNKNOWN_CHAIN, "The wallet does not know this chain.");
    }
    case "eth_signTypedData_v4":
      return signTypedData(params[0], params[1]);
    case "personal_sign":
      return signText(params[0], params[1]);
    default:
      throw new WalletError(UNSUPPORTED, `The wallet does not support ${method}.`);
  }
}

/** An EIP-1193 provider like that of a browser wallet, with the keys of one demo person at a time. */
export const demoProvider = {
  request: ({ method, params = [] }: { method: string; params?: unknown }) =>
    handle(method, Array.isArray(params) ? params : [params]),
  on(event: string, listener: Listener) {
    const known = listeners.get(event) ?? new Set();
    listeners.set(event, known.add(listener));
  },
  removeListener(event: string, listener: Listener) {
    listeners.get(event)?.delete(listener);
  },
};

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Crect width='24' height='24' rx='6' fill='%236d4aff'/%3E%3Cpath d='M6 9h12v8H6zM6 9l9-3v3' fill='none' stroke='%23fff' stroke-width='1.6'/%3E%3C/svg%3E";

const detail = Object.freeze({
  info: Object.freeze({
    uuid: crypto.randomUUID?.() ?? "00000000-0000-4000-8000-000000000000",
    name: msg.aDemoPersonsWallet,
    icon: ICON,
    rdns: DEMO_WALLET_RDNS,
  }),
  provider: demoProvider,
});

/** Announces the wallet to the page as an extension would (EIP-6963). Does nothing on a node without a demo network. */
export function announceDemoWallet(): void {
  if (!pageConfig.demo) return;
  const announce = () => window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
  window.addEventListener("eip6963:requestProvider", announce);
  announce();
}
