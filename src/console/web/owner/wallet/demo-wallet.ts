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

/** Known to all tabs of the browser: the keys of a demo person are everybody's. */
const KEPT_FID = "demo-fid";
const KEPT_TRUST = "demo-signs-unasked";

const fidIn = (text: string | null) => (Number(text) > 0 ? Number(text) : undefined);

/** Whose wallet is borrowed. */
export const borrowedFid = signal(fidIn(localStorage.getItem(KEPT_FID)));

/** Borrows the wallet of a person, in all tabs. */
export function keepBorrowed(fid: number): void {
  localStorage.setItem(KEPT_FID, String(fid));
  borrowedFid.value = fid;
}

/** The question that is open. There is one at a time; others wait. */
export const demoPrompt = signal<DemoPrompt | undefined>(undefined);

/** Has the wallet sign without asking, until it is given back. */
export function signUnasked(): void {
  localStorage.setItem(KEPT_TRUST, "1");
}

export const signsUnasked = () => localStorage.getItem(KEPT_TRUST) !== null;

/** Gets the value of an event. */
export type Listener = (value: unknown) => void;
export const listeners = new Map<string, Set<Listener>>();
export function emit(event: string, value: unknown): void {
  for (const listener of listeners.get(event) ?? []) listener(value);
}

/** Gives the wallet back. Pages see that it has no accounts any more. */
export function returnWallet(): void {
  localStorage.removeItem(KEPT_FID);
  localStorage.removeItem(KEPT_TRUST);
  borrowedFid.value = undefined;
  emit("accountsChanged", []);
}

/** Follows another tab that borrows or returns a wallet. `accountOf` gives the address that the wallet has of an fid. */
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
        // A page whose node is away asks again when it needs the wallet.
        () => undefined,
      );
  });
}
