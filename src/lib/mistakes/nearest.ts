const MAX_EDITS = 3;
/** A word may have one edit per this many characters, because few edits turn a short word into another one. */
const CHARS_PER_EDIT = 5;

/**
 * Returns the candidate that a misspelt word most likely means: the first of those that the fewest edits separate from it, whatever their
 * case. Undefined if none is near.
 */
export function nearestOf(word: string, candidates: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let fewest = MAX_EDITS + 1;
  for (const candidate of candidates) {
    const length = Math.max(word.length, candidate.length);
    const allowed = Math.max(1, Math.floor(length / CHARS_PER_EDIT));
    if (Math.abs(word.length - candidate.length) >= fewest) continue;
    const edits = editsBetween(word.toLowerCase(), candidate.toLowerCase());
    if (edits >= fewest || edits > allowed) continue;
    nearest = candidate;
    fewest = edits;
  }
  return nearest;
}

/** Ends the sentence that a name is unknown with the one that was probably meant. Empty if none is near. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const meant = nearestOf(name, known);
  return meant === undefined ? "" : `: did you mean "${meant}"?`;
}

/** Counts the insertions, deletions, replacements and swaps of neighbours that turn one text into the other. */
function editsBetween(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = at(last, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = isSwap ? at(beforeLast, j - 2) + 1 : replaced;
      row.push(Math.min(at(last, j) + 1, at(row, j - 1) + 1, replaced, swapped));
    }
    [beforeLast, last] = [last, row];
  }
  return at(last, to.length);
}

const at = (row: readonly number[], index: number) => row[index] ?? Number.POSITIVE_INFINITY;
