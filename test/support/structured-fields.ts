/** An item of a list of structured fields (RFC 9651): a string with parameters that are integers. */
export interface LimitItem {
  readonly name: string;
  readonly parameters: Readonly<Record<string, number>>;
}

/**
 * Parses a list of strings with integer parameters, by the grammar of RFC 9651 and nothing beyond it.
 *
 * @throws Error for any other text.
 */
export function parseLimitList(text: string): LimitItem[] {
  const items: LimitItem[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    const sticky = new RegExp(pattern, "y");
    sticky.lastIndex = at;
    const found = sticky.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const expected = (what: string) => new Error(`${what} is missing at ${at} of ${JSON.stringify(text)}`);
  for (;;) {
    const quoted = take(/"(?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"/);
    if (quoted === undefined) throw expected("a string");
    const parameters: Record<string, number> = {};
    while (take(/;/) !== undefined) {
      take(/ */);
      const key = take(/[a-z*][a-z0-9_.*-]*/);
      if (key === undefined) throw expected("a key");
      const value = take(/=/) === undefined ? undefined : take(/-?[0-9]{1,15}(?![0-9.])/);
      if (value === undefined) throw expected("an integer");
      parameters[key] = Number(value);
    }
    items.push({ name: quoted.slice(1, -1).replace(/\\(["\\])/g, "$1"), parameters });
    if (at === text.length) return items;
    if (take(/[ \t]*,[ \t]*/) === undefined) throw expected("a comma");
  }
}
