import { pageConfig } from "../../page-config.ts";
import * as msg from "../../text/en/common.ts";
import { DEMO_WALLET_RDNS, followTabs, type Listener, listeners } from "./demo-wallet.ts";

/** An EIP-1193 provider like that of a browser wallet, with the keys of one demo person at a time. */
const demoProvider = {
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

/** Announces the wallet to the page like a browser extension (EIP-6963). Does nothing on a node without a demo network. */
export function announceDemoWallet(): void {
  if (!pageConfig.demo) return;
  const announce = () => window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
  window.addEventListener("eip6963:requestProvider", announce);
  announce();
  followTabs(async (fid) => {
    const { keysOf } = await import("./demo-wallet-requests.ts");
    return (await keysOf(fid)).custody.address;
  });
}
