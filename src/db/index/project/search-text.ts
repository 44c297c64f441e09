/**
 * Scripts that are written without spaces between words. The tokenizer would take a whole sentence of them for one
 * word, so each of their characters is made a word of its own, here and in queries alike.
 */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*/gu;

/** The text as the full-text index takes it in. */
export function searchText(text: string): string {
  return text.replace(UNSPACED, " $& ");
}
