/**
 * Scripts written without spaces between words. The tokenizer would treat a whole sentence as one word, so each character
 * becomes its own word, in indexed texts and in queries alike.
 */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*/gu;

/** Returns the text in the form in which the full-text index stores it. */
export function searchText(text: string): string {
  return text.replace(UNSPACED, " $& ");
}
