import type { WalletProvider } from "./wallets.ts";

function hexOf(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Lets a wallet sign a text with one of its accounts (EIP-191). */
export const signText = (provider: WalletProvider, address: string, text: string): Promise<unknown> =>
  provider.request({ method: "personal_sign", params: [hexOf(text), address] });
