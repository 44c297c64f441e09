import { signal } from "@preact/signals";
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

/** For this tab only, so that a reload keeps the borrowed wallet. */
export const KEPT_FID = "demo-fid";
export const KEPT_TRUST = "demo-signs-unasked";

const keptFid = Number(sessionStorage.getItem(KEPT_FID));

/** Whose wallet is borrowed. */
export const borrowedFid = signal<number | undefined>(keptFid > 0 ? keptFid : undefined);

/** The question that is open. There is one at a time; others wait. */
export const demoPrompt = signal<DemoPrompt | undefined>(undefined);

/** Has the wallet sign without asking, until the tab is closed. */
export function signUnasked(): void {
  sessionStorage.setItem(KEPT_TRUST, "1");
}

type Listener = (value: unknown) => void;
const listeners = new Map<string, Set<Listener>>();
export function emit(event: string, value: unknown): void {
  for (const listener of listeners.get(event) ?? []) listener(value);
}

/** Gives the wallet back. Pages see that it has no accounts any more. */
export function returnWallet(): void {
  sessionStorage.removeItem(KEPT_FID);
  sessionStorage.removeItem(KEPT_TRUST);
  borrowedFid.value = undefined;
  emit("accountsChanged", []);
}

/** An EIP-1193 provider like that of a browser wallet, with the keys of one demo person at a time. */
export const demoProvider = {
  async request({ method, params = [] }: { method: string; params?: unknown }): Promise<unknown> {
    const { handle } = await import("./demo-wallet-requests.ts");
    return handle(method, Array.isArray(params) ? params : [params]);
  },
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
