/** Maximum number of mentions in a cast. Further names stay text. A rule of the protocol. */
const MAX_MENTIONS = 10;

/** What a text may mention. Names are in lowercase. */
export interface MentionLookups {
  /** Returns the fid with the name's live proof, if any. `name` is an fname, an ENS name or a basename. */
  fidOfName(name: string): number | undefined;
  isRegistered(fid: number): boolean;
}

/** A text without its mentions, as the protocol stores it. Positions are UTF-8 byte offsets, in order. */
export interface TextWithoutMentions {
  readonly text: string;
  readonly mentions: number[];
  readonly mentionsPositions: number[];
}

/** A name in a text. Offsets are UTF-16 units. */
interface Mention {
  readonly start: number;
  readonly end: number;
  readonly fid: number;
}

const URL_START = /https?:\/\//gi;
const URL_END = /\s/g;
/** An `@` that may begin a mention: it does not follow a letter, digit, `_`, `@` or `/`. */
const SIGN = /(?<![\p{L}\p{N}_@/])@/gu;
const LABEL = /[a-z0-9][a-z0-9-]{0,15}/iy;
const FID = /!([1-9][0-9]{0,15})/y;
/** What must not follow a name, because it would be part of a word or of an address. */
const WORD = /[\p{L}\p{N}_@]/uy;
const SUFFIXES = [".base.eth", ".eth"] as const;

/**
 * Cuts the mentions out of a text. A mention is `@` and a name with a live proof, or `@!` and a registered fid, which is how reads show
 * users without a name. Names inside a URL, and unknown names, stay text.
 */
export function cutMentions(text: string, lookups: MentionLookups): TextWithoutMentions {
  const mentions: number[] = [];
  const mentionsPositions: number[] = [];
  let rest = "";
  let bytes = 0;
  let at = 0;
  for (const { start, end, fid } of mentionsOf(text, lookups)) {
    const before = text.slice(at, start);
    rest += before;
    bytes += Buffer.byteLength(before);
    mentions.push(fid);
    mentionsPositions.push(bytes);
    at = end;
    if (mentions.length === MAX_MENTIONS) break;
  }
  return { text: rest + text.slice(at), mentions, mentionsPositions };
}

function* mentionsOf(text: string, lookups: MentionLookups): Generator<Mention> {
  const urls = urlsOf(text);
  let url = 0;
  for (const { index: start } of text.matchAll(SIGN)) {
    while ((urls[url]?.end ?? Number.POSITIVE_INFINITY) <= start) url++;
    if ((urls[url]?.start ?? Number.POSITIVE_INFINITY) <= start) continue;
    const mention = mentionAt(text, start, lookups);
    if (mention) yield mention;
  }
}

/** Returns the runs without white space that begin with `http://` or `https://`, in order and disjoint. */
function urlsOf(text: string): { readonly start: number; readonly end: number }[] {
  const urls: { start: number; end: number }[] = [];
  for (const { index: start } of text.matchAll(URL_START)) {
    if (start < (urls.at(-1)?.end ?? 0)) continue;
    URL_END.lastIndex = start;
    urls.push({ start, end: URL_END.exec(text)?.index ?? text.length });
  }
  return urls;
}

/** Returns the mention whose `@` is at `start`, with the longest form of the name that a user has. */
function mentionAt(text: string, start: number, lookups: MentionLookups): Mention | undefined {
  const nameStart = start + 1;
  const fidText = matchAt(FID, text, nameStart);
  if (fidText !== undefined) {
    const fid = Number(fidText.slice(1));
    const end = nameStart + fidText.length;
    return endsThere(text, end) && lookups.isRegistered(fid) ? { start, end, fid } : undefined;
  }
  const label = matchAt(LABEL, text, nameStart);
  if (label === undefined) return undefined;
  for (const name of formsOf(label, text.slice(nameStart + label.length))) {
    const end = nameStart + name.length;
    if (!endsThere(text, end)) continue;
    const fid = lookups.fidOfName(name);
    if (fid !== undefined) return { start, end, fid };
  }
  return undefined;
}

/** Returns the names that a label and the following text may mean: with a suffix, bare, without trailing hyphens. */
function formsOf(label: string, behind: string): string[] {
  const bare = label.toLowerCase();
  const following = behind.slice(0, SUFFIXES[0].length).toLowerCase();
  const forms = SUFFIXES.filter((suffix) => following.startsWith(suffix)).map((suffix) => bare + suffix);
  forms.push(bare);
  const trimmed = bare.replace(/-+$/, "");
  if (trimmed !== bare) forms.push(trimmed);
  return forms;
}

function endsThere(text: string, end: number): boolean {
  return matchAt(WORD, text, end) === undefined;
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
