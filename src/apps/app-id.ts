import { randomBase58 } from "../lib/random-base58.ts";

const ID_CHARS = 16;

/** Creates an app id: 16 uniformly random digits of base58 (about 93 bits). */
export function createAppId(): string {
  return randomBase58(ID_CHARS);
}
