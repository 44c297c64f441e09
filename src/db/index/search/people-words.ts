import { searchText } from "./search-text.ts";

/** Accents and other marks of Latin, Greek and Cyrillic letters. Marks of other scripts are letters, such as vowels. */
const DIACRITICS = /[\u0300-\u036f]/g;
const WORD = /[\p{L}\p{N}\p{M}]+/gu;

/**
 * Returns the words by which people are searched for: runs of letters and digits without case and diacritics. Each character
 * of a script without spaces is a word. The index of people stores these words and its tokenizer does not change them, so a
 * comparison here and a search there agree.
 */
export function foldedWords(text: string): string[] {
  const folded = text.normalize("NFKD").replace(DIACRITICS, "").toLowerCase();
  // Decomposed Hangul is composed again; otherwise a syllable would be up to three characters.
  return searchText(folded.normalize("NFC").replace(DIACRITICS, "")).match(WORD) ?? [];
}
