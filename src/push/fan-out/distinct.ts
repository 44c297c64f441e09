/** Slots of the hash table: a power of two, several times the tokens of a batch. */
const SLOTS = 1024;
const LAST_CHARS = 4;

/** Indexes into the list, plus one; reused, because the function is synchronous. */
const table = new Uint16Array(SLOTS);

/**
 * Returns the texts of a batch without repetitions, in order; the list itself if there are none. Hashes only the length
 * and the last characters: the engine's own hash of every character, as for a `Set`, costs more than the rest of a batch's
 * bookkeeping. Texts that collide are compared, so the result is exact.
 */
export function distinct(texts: readonly string[]): readonly string[] {
  if (2 * texts.length > SLOTS) return [...new Set(texts)];
  table.fill(0);
  const unique: string[] = [];
  for (const text of texts) {
    let slot = text.length;
    for (let back = 1; back <= LAST_CHARS; back++)
      slot = slot * 31 + (text.charCodeAt(text.length - back) || 0);
    slot &= SLOTS - 1;
    let at = table[slot];
    while (at && unique[at - 1] !== text) {
      slot = (slot + 1) & (SLOTS - 1);
      at = table[slot];
    }
    if (at) continue;
    table[slot] = unique.push(text);
  }
  return unique.length === texts.length ? texts : unique;
}
