import { signal } from "@preact/signals";

/** The keys of a demo person, which are public by nature. */
export interface DemoKeys {
  readonly fid: number;
  readonly custody: { readonly address: string; readonly privateKey: string };
  /** Used if a page asks for this address; the wallet only shows the custody address. */
  readonly recovery: { readonly address: string; readonly privateKey: string };
  readonly signers: readonly { readonly privateKey: string }[];
}

/** A prompt of the wallet for the visitor. `settle` with undefined declines. */
export type DemoPrompt =
  | { readonly kind: "pick"; readonly settle: (fid: number | undefined) => void }
  | {
      readonly kind: "sign";
      readonly fid: number;
      readonly message: Readonly<Record<string, unknown>>;
      readonly settle: (agrees: true | undefined) => void;
    };

/** The name by which a page recognizes this wallet (EIP-6963). */
export const DEMO_WALLET_RDNS = "console.demo";

/** Shared by all tabs of the browser, because the keys of a demo person are public. */
const KEPT_FID = "demo-fid";
const KEPT_TRUST = "demo-signs-unasked";

const fidIn = (text: string | null) => (Number(text) > 0 ? Number(text) : undefined);

/** The fid of the person whose wallet is borrowed. */
export const borrowedFid = signal(fidIn(localStorage.getItem(KEPT_FID)));

/** Borrows the wallet of a person, in all tabs. */
export function keepBorrowed(fid: number): void {
  localStorage.setItem(KEPT_FID, String(fid));
  borrowedFid.value = fid;
}

/** The open prompt. There is only one at a time; others wait. */
export const demoPrompt = signal<DemoPrompt | undefined>(undefined);

/** Lets the wallet sign without prompts until it is returned. */
export function signUnasked(): void {
  localStorage.setItem(KEPT_TRUST, "1");
}

export const signsUnasked = () => localStorage.getItem(KEPT_TRUST) !== null;

/** Called with the value of an event. */
export type Listener = (value: unknown) => void;
export const listeners = new Map<string, Set<Listener>>();
export function emit(event: string, value: unknown): void {
  for (const listener of listeners.get(event) ?? []) listener(value);
}

/** Returns the wallet. Pages see that it no longer has accounts. */
export function returnWallet(): void {
  localStorage.removeItem(KEPT_FID);
  localStorage.removeItem(KEPT_TRUST);
  borrowedFid.value = undefined;
  emit("accountsChanged", []);
}

/** Follows other tabs that borrow or return a wallet. `accountOf` returns the wallet's address for an fid. */
export function followTabs(accountOf: (fid: number) => Promise<string>): void {
  window.addEventListener("storage", ({ key, newValue }) => {
    if (key !== KEPT_FID && key !== null) return;
    const fid = fidIn(newValue);
    if (fid === borrowedFid.peek()) return;
    borrowedFid.value = fid;
    if (fid === undefined) emit("accountsChanged", []);
    else
      accountOf(fid).then(
        (address) => emit("accountsChanged", [address]),
        // If the node does not respond, a page asks again when it needs the wallet.
        () => undefined,
      );
  });
}
