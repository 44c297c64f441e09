import { makeSigner, makeWallet } from "../support/messages.ts";

/** The fids of the generated networks, and their names, words, locations and keys. */

/** The fids that act, the last three later than the others. Others name 98 and 99, which never register. */
export const FIDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] as const;
export const UNREGISTERED_FIDS = [98, 99] as const;
export const LATECOMERS: readonly number[] = [10, 11, 12];
/** The fid whose store of casts overflows, and the fid with enough storage to lend. */
export const PROLIFIC = 3;
export const LENDER = 7;

// biome-ignore format: a vocabulary
export const WORDS = [
  "hello", "help", "world", "gm", "GM", "frames", "frame", "building", "build", "ship it", "don't", "C++",
  "Ünïcode", "straße", "日本語", "東京タワー", "こんにちは", "今日は東京", "안녕하세요", "สวัสดี", "🚀", "naïve", "one-two", "a.b", "NOT", "42",
] as const;
export const PARENT_URLS = [
  "https://warpcast.com/~/channel/books",
  "https://farcaster.xyz/~/channel/books",
  "https://farcaster.xyz/~/channel/art",
  "https://warpcast.com/~/channel/Art",
  "https://warpcast.com/~/channel/art/",
  "https://warpcast.com/~/channel/books?x=1",
  "http://warpcast.com/~/channel/books",
  "chain://eip155:1/erc721:0xabc",
  "https://example.com/page?a=1",
  "books",
] as const;
export const LOCATIONS = [
  "geo:52.52,13.40",
  "geo:52.52,-13.40",
  "geo:-5.00,120.25",
  "geo:48.10,11.50",
] as const;
export const X_NAMES = ["alice", "bob_x", "alice2"] as const;
export const FNAMES = ["alice", "alan", "bob", "zed-1", "user3"] as const;
export const CLAIMED_NAMES = ["alice.eth", "bob.eth", "carol.eth", "alice.base.eth"] as const;
export const DISPLAY_NAMES = [
  "Alice Liddell",
  "alan TURING",
  "Bob",
  "東京 太郎",
  "Ünï Code",
  "the Bob",
] as const;

/** Ethereum wallets and Solana keys that fids verify. Several fids verify the same ones. */
export const WALLETS = [0, 1, 2, 3, 4, 5, 6].map((n) => makeWallet(`verified ${n}`));
export const SOLANA = [0, 1].map((n) => makeSigner(`solana ${n}`));
export const CUSTODY_SEEDS = ["shared", "custody 1", "custody 2", "custody 4", "custody 11"] as const;
export const custodyOf = (seed: string) => makeWallet(seed).address;
