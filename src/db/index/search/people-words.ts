import { searchText } from "./search-text.ts";

/** Accents and other marks of Latin, Greek and Cyrillic letters. Marks of other scripts are letters: vowels, for example. */
const DIACRITICS = /[\u0300-\u036f]/g;
const WORD = /[\p{L}\p{N}\p{M}]+/gu;

/**
 * Returns the words of a text as people are searched by them: runs of letters and digits without case and diacritics. Each
 * character of a script without spaces is a word. The index of people stores these words and its tokenizer changes none, so
 * that a comparison here and a search there agree.
 */
export function foldedWords(text: string): string[] {
  const folded = text.normalize("NFKD").replace(DIACRITICS, "").toLowerCase();
  // Decomposed Hangul is composed again, else a syllable is up to three characters.
  return searchText(folded.normalize("NFC").replace(DIACRITICS, "")).match(WORD) ?? [];
}
