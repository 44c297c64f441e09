/**
 * Characters that must not be hidden in a name: controls, bidirectional controls, zero-width characters, tags, fillers and others that
 * render as nothing, and unpaired surrogates.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Emoji of several characters, whose joiners, tags and variation selectors are part of them. */
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

/** A part of a text: characters to show, or an invisible one, with its number and name ("U+202E right-to-left override"). */
type NamePart = { readonly text: string } | { readonly mark: string };

/** Splits one grapheme at its invisible characters. An emoji of several characters stays whole. */
function splitGrapheme(grapheme: string): NamePart[] {
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

const MAX_GRAPHEMES = 64;
/** Bounds the work for one grapheme with any number of combining marks. */
const MAX_CHARS = 512;

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Returns the parts of a name to render: at most 64 graphemes, then "…". Invisible characters are separate parts. */
export function nameParts(name: string): NamePart[] {
  const parts: NamePart[] = [];
  let text = "";
  let count = 0;
  const flush = () => {
    if (text !== "") parts.push({ text });
    text = "";
  };
  for (const { segment } of graphemes.segment(name.slice(0, MAX_CHARS))) {
    if (count++ === MAX_GRAPHEMES) break;
    for (const part of splitGrapheme(segment)) {
      if ("text" in part) {
        text += part.text;
        continue;
      }
      flush();
      parts.push(part);
    }
  }
  if (count > MAX_GRAPHEMES || name.length > MAX_CHARS) text += "…";
  flush();
  return parts;
}

/** Returns the parts of a name as one text, for titles and labels: each invisible character becomes "�". */
export function plainName(name: string): string {
  return nameParts(name)
    .map((part) => ("text" in part ? part.text : "�"))
    .join("");
}

/** Returns the first visible grapheme of a name in uppercase, for a person's face; "·" if it has none. */
export function initialOf(name: string): string {
  const first = nameParts(name).find((part) => "text" in part && part.text.trim() !== "");
  if (!first || !("text" in first)) return "·";
  for (const { segment } of graphemes.segment(first.text.trimStart())) return segment.toUpperCase();
  return "·";
}

/** Returns the prefix for the name of a channel: a slash, or nothing if the name is a URL. */
export const channelPrefix = (name: string): string => (name.includes("://") ? "" : "/");

/** The fields of a user that names need. `username` is `!<fid>` for an fid without a name. */
interface Named {
  readonly fid: number;
  readonly username: string;
  readonly display_name?: string | null;
}

/** Returns `@name`, or `!<fid>` for a user without a name. It distinguishes two people with the same display name. */
export function handleOf({ fid, username }: Named): string {
  return username === "" || username.startsWith("!") ? `!${fid}` : `@${username}`;
}

/** Returns the name to show: the display name, or the handle if that is empty or blank. */
export function displayNameOf(user: Named): string {
  const name = user.display_name?.trim() ?? "";
  return name === "" ? handleOf(user) : name;
}
