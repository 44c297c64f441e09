/** The words of a block of 64 bytes, little-endian. Hashing is synchronous, so all calls share them. */
export const words = new Int32Array(16);
/** The chaining value. */
export const chain = new Int32Array(8);

const IV_0 = 0x6a09e667;
const IV_1 = 0xbb67ae85 | 0;
const IV_2 = 0x3c6ef372;
const IV_3 = 0xa54ff53a | 0;
const LAST_ROUND = 6;

/**
 * The compression function of BLAKE3 (section 2.2 of https://github.com/BLAKE3-team/BLAKE3-specs) for counter 0: mixes
 * `words` into `chain`. The state and the words are local variables, which takes a third of the time of arrays. Every stored
 * message is hashed, and so is every key of the state's trie.
 */
export function compress(length: number, flags: number): void {
  let m0 = words[0] as number;
  let m1 = words[1] as number;
  let m2 = words[2] as number;
  let m3 = words[3] as number;
  let m4 = words[4] as number;
  let m5 = words[5] as number;
  let m6 = words[6] as number;
  let m7 = words[7] as number;
  let m8 = words[8] as number;
  let m9 = words[9] as number;
  let m10 = words[10] as number;
  let m11 = words[11] as number;
  let m12 = words[12] as number;
  let m13 = words[13] as number;
  let m14 = words[14] as number;
  let m15 = words[15] as number;
  let v0 = chain[0] as number;
  let v1 = chain[1] as number;
  let v2 = chain[2] as number;
  let v3 = chain[3] as number;
  let v4 = chain[4] as number;
  let v5 = chain[5] as number;
  let v6 = chain[6] as number;
  let v7 = chain[7] as number;
  let v8 = IV_0;
  let v9 = IV_1;
  let v10 = IV_2;
  let v11 = IV_3;
  let v12 = 0;
  let v13 = 0;
  let v14 = length;
  let v15 = flags;
  for (let round = 0; ; round++) {
    // The columns.
    v0 = (v0 + v4 + m0) | 0;
    v12 = rotateRight(v12 ^ v0, 16);
    v8 = (v8 + v12) | 0;
    v4 = rotateRight(v4 ^ v8, 12);
    v0 = (v0 + v4 + m1) | 0;
    v12 = rotateRight(v12 ^ v0, 8);
    v8 = (v8 + v12) | 0;
    v4 = rotateRight(v4 ^ v8, 7);
    v1 = (v1 + v5 + m2) | 0;
    v13 = rotateRight(v13 ^ v1, 16);
    v9 = (v9 + v13) | 0;
    v5 = rotateRight(v5 ^ v9, 12);
    v1 = (v1 + v5 + m3) | 0;
    v13 = rotateRight(v13 ^ v1, 8);
    v9 = (v9 + v13) | 0;
    v5 = rotateRight(v5 ^ v9, 7);
    v2 = (v2 + v6 + m4) | 0;
    v14 = rotateRight(v14 ^ v2, 16);
    v10 = (v10 + v14) | 0;
    v6 = rotateRight(v6 ^ v10, 12);
    v2 = (v2 + v6 + m5) | 0;
    v14 = rotateRight(v14 ^ v2, 8);
    v10 = (v10 + v14) | 0;
    v6 = rotateRight(v6 ^ v10, 7);
    v3 = (v3 + v7 + m6) | 0;
    v15 = rotateRight(v15 ^ v3, 16);
    v11 = (v11 + v15) | 0;
    v7 = rotateRight(v7 ^ v11, 12);
    v3 = (v3 + v7 + m7) | 0;
    v15 = rotateRight(v15 ^ v3, 8);
    v11 = (v11 + v15) | 0;
    v7 = rotateRight(v7 ^ v11, 7);
    // The diagonals.
    v0 = (v0 + v5 + m8) | 0;
    v15 = rotateRight(v15 ^ v0, 16);
    v10 = (v10 + v15) | 0;
    v5 = rotateRight(v5 ^ v10, 12);
    v0 = (v0 + v5 + m9) | 0;
    v15 = rotateRight(v15 ^ v0, 8);
    v10 = (v10 + v15) | 0;
    v5 = rotateRight(v5 ^ v10, 7);
    v1 = (v1 + v6 + m10) | 0;
    v12 = rotateRight(v12 ^ v1, 16);
    v11 = (v11 + v12) | 0;
    v6 = rotateRight(v6 ^ v11, 12);
    v1 = (v1 + v6 + m11) | 0;
    v12 = rotateRight(v12 ^ v1, 8);
    v11 = (v11 + v12) | 0;
    v6 = rotateRight(v6 ^ v11, 7);
    v2 = (v2 + v7 + m12) | 0;
    v13 = rotateRight(v13 ^ v2, 16);
    v8 = (v8 + v13) | 0;
    v7 = rotateRight(v7 ^ v8, 12);
    v2 = (v2 + v7 + m13) | 0;
    v13 = rotateRight(v13 ^ v2, 8);
    v8 = (v8 + v13) | 0;
    v7 = rotateRight(v7 ^ v8, 7);
    v3 = (v3 + v4 + m14) | 0;
    v14 = rotateRight(v14 ^ v3, 16);
    v9 = (v9 + v14) | 0;
    v4 = rotateRight(v4 ^ v9, 12);
    v3 = (v3 + v4 + m15) | 0;
    v14 = rotateRight(v14 ^ v3, 8);
    v9 = (v9 + v14) | 0;
    v4 = rotateRight(v4 ^ v9, 7);
    if (round === LAST_ROUND) break;
    // The next round reads the words in another order: in a cycle, each takes the place of the previous one.
    const first0 = m0;
    m0 = m2;
    m2 = m3;
    m3 = m10;
    m10 = m12;
    m12 = m9;
    m9 = m11;
    m11 = m5;
    m5 = first0;
    const first1 = m1;
    m1 = m6;
    m6 = m4;
    m4 = m7;
    m7 = m13;
    m13 = m14;
    m14 = m15;
    m15 = m8;
    m8 = first1;
  }
  chain[0] = v0 ^ v8;
  chain[1] = v1 ^ v9;
  chain[2] = v2 ^ v10;
  chain[3] = v3 ^ v11;
  chain[4] = v4 ^ v12;
  chain[5] = v5 ^ v13;
  chain[6] = v6 ^ v14;
  chain[7] = v7 ^ v15;
}

function rotateRight(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
