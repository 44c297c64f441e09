import { signal } from "@preact/signals";
import * as msg from "../../text/en/manage/owner.ts";
import { DEMO_WALLET_RDNS } from "./demo-wallet.ts";

/** The parts of a wallet's interface (EIP-1193) that the page uses. */
export interface WalletProvider {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
  on?(event: string, listener: (value: unknown) => void): unknown;
  removeListener?(event: string, listener: (value: unknown) => void): unknown;
}

/** A wallet that this browser offers. */
export interface Wallet {
  /** Stable across reloads: its reverse domain name, or `LEGACY_ID`. */
  readonly id: string;
  readonly name: string;
  /** A `data:` URL of an image. */
  readonly icon: string | undefined;
  readonly isDemo: boolean;
  readonly provider: WalletProvider;
}

/** The id of `window.ethereum`. */
const LEGACY_ID = "window.ethereum";
const MAX_WALLETS = 20;
const MAX_NAME_CHARS = 64;
const ICON = /^data:image\/(png|webp|jpeg|svg\+xml)[;,]/;

const announced = signal<readonly Wallet[]>([]);
const legacy = signal<Wallet | undefined>(undefined);

/** Returns every wallet that has announced itself (EIP-6963), then one that is only `window.ethereum`. */
export function offeredWallets(): readonly Wallet[] {
  const last = legacy.value;
  const isKnown = announced.value.some(({ provider }) => provider === last?.provider);
  return last && !isKnown ? [...announced.value, last] : announced.value;
}

interface Announcement {
  readonly info?: { readonly name?: unknown; readonly rdns?: unknown; readonly icon?: unknown };
  readonly provider?: unknown;
}

function isProvider(value: unknown): value is WalletProvider {
  return typeof value === "object" && value !== null && "request" in value;
}

function add(event: Event): void {
  const { info, provider } = (event as CustomEvent<Announcement>).detail ?? {};
  if (!isProvider(provider) || announced.value.length >= MAX_WALLETS) return;
  if (announced.value.some((known) => known.provider === provider)) return;
  const id = String(info?.rdns ?? "").slice(0, MAX_NAME_CHARS) || "unnamed";
  const icon = String(info?.icon ?? "");
  const wallet = {
    id,
    name: String(info?.name ?? msg.wallet).slice(0, MAX_NAME_CHARS),
    icon: ICON.test(icon) ? icon : undefined,
    isDemo: id === DEMO_WALLET_RDNS,
    provider,
  };
  announced.value = [...announced.value, wallet];
}

let isListening = false;

/** Asks the wallets of this browser to announce themselves. Most of them respond at once. */
export function discoverWallets(): void {
  if (!isListening) addEventListener("eip6963:announceProvider", add);
  isListening = true;
  dispatchEvent(new Event("eip6963:requestProvider"));
  const { ethereum } = window as { ethereum?: unknown };
  if (!isProvider(ethereum) || legacy.value) return;
  const name = msg.theWalletOfThisBrowser;
  legacy.value = { id: LEGACY_ID, name, icon: undefined, isDemo: false, provider: ethereum };
}

/** How long a wallet may take to announce itself after a reload. */
const ANNOUNCE_MS = 1_000;
const POLL_MS = 50;

/** Finds the wallet of an earlier visit. */
export async function findWallet(id: string): Promise<Wallet | undefined> {
  discoverWallets();
  const find = () => offeredWallets().find((wallet) => wallet.id === id);
  for (let waitedMs = 0; waitedMs < ANNOUNCE_MS && !find(); waitedMs += POLL_MS) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return find();
}
