/**
 * Characters that a name must not hide behind: controls, bidirectional controls, zero-width characters, tags, fillers and others that
 * draw nothing, and halves of a character.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Pictures of several characters, whose joiners, tags and variation selectors are part of them. */
const EMOJI_SEQUENCE = /^(?:\p{RGI_Emoji}|\p{Emoji}[\uFE0E\uFE0F])$/v;

const NAMES: Readonly<Record<number, string>> = {
  173: "soft hyphen",
  1564: "Arabic letter mark",
  8203: "zero-width space",
  8204: "zero-width non-joiner",
  8205: "zero-width joiner",
  8206: "left-to-right mark",
  8207: "right-to-left mark",
  8234: "left-to-right embedding",
  8235: "right-to-left embedding",
  8236: "end of a direction",
  8237: "left-to-right override",
  8238: "right-to-left override",
  8288: "word joiner",
  8294: "left-to-right isolate",
  8295: "right-to-left isolate",
  8296: "first strong isolate",
  8297: "end of an isolate",
  65279: "zero-width no-break space",
};

/** A part of a text: characters to show, or one that draws nothing, with its number and name ("U+202E right-to-left override"). */
export type NamePart = { readonly text: string } | { readonly mark: string };

/** Splits one grapheme at its invisible characters. An emoji of several characters stays whole. */
export function splitGrapheme(grapheme: string): NamePart[] {
  if (!INVISIBLE.test(grapheme) || EMOJI_SEQUENCE.test(grapheme)) return [{ text: grapheme }];
  const parts: NamePart[] = [];
  for (const character of grapheme) {
    parts.push(INVISIBLE.test(character) ? { mark: describeCharacter(character) } : { text: character });
  }
  return parts;
}

function describeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const number = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return NAMES[code] === undefined ? number : `${number} ${NAMES[code]}`;
}
