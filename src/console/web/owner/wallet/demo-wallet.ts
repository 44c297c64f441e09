import { signal } from "@preact/signals";

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

/** Gets the value of an event. */
export type Listener = (value: unknown) => void;
export const listeners = new Map<string, Set<Listener>>();
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
