/** Reads the texts of a source file: the content of its strings and templates, with `{}` for each value; those joined by `+` are one. */
export function textsIn(source: string): string[] {
  const found: string[] = [];
  let at = 0;

  /** Reads a literal that begins here. */
  function literal(): string {
    const quote = source[at++];
    let text = "";
    while (at < source.length && source[at] !== quote) {
      if (source[at] === "\\") {
        const escaped = source[at + 1] ?? "";
        text += escaped === "n" ? "\n" : escaped;
        at += 2;
      } else if (quote === "`" && source.startsWith("${", at)) {
        at += 2;
        code("}");
        text += "{}";
      } else text += source[at++];
    }
    at++;
    return text;
  }

  /** Reads code up to the closing bracket. */
  function code(end: string | undefined): void {
    let joined: string | undefined;
    const finish = () => {
      if (joined !== undefined) found.push(joined);
      joined = undefined;
    };
    while (at < source.length) {
      const char = source[at] as string;
      if (source.startsWith("//", at)) at = endOf("\n");
      else if (source.startsWith("/*", at)) at = endOf("*/");
      else if (char === '"' || char === "`") {
        const text = literal();
        joined = (joined ?? "") + text;
        const [plus] = /^\s*\+\s*(?=["`])/.exec(source.slice(at, at + 200)) ?? [];
        if (plus === undefined) finish();
        else at += plus.length;
      } else if (isRegExp())
        at += (/^\/(?:\\.|\[(?:\\.|[^\]])*\]|[^/])+\/\w*/.exec(source.slice(at)) ?? ["/"])[0].length;
      else if (char === end) {
        at++;
        return;
      } else {
        at++;
        if (char === "{" && end !== undefined) code("}");
      }
    }
  }

  const endOf = (mark: string) => {
    const next = source.indexOf(mark, at);
    return next < 0 ? source.length : next + mark.length;
  };
  const isRegExp = () =>
    source[at] === "/" && /[(=:,!&|?{};\n]\s*$/.test(source.slice(Math.max(0, at - 20), at));

  code(undefined);
  return found;
}
