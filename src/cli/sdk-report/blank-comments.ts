import { extname } from "node:path";

const HASH = new Set(".py .rb .sh .bash .zsh .yaml .yml .toml .env .ex .exs .ipynb".split(" "));
const NONE = new Set([".json"]);

/**
 * Replaces the comments of a source by spaces; all other characters keep their positions. It recognizes strings but neither regular
 * expressions nor nested templates; in these cases a comment may stay or end at its line.
 */
export function blankComments(path: string, text: string): string {
  const extension = extname(path);
  if (NONE.has(extension)) return text;
  const isHash = HASH.has(extension) || /(^|\/)(\.env[\w.-]*|Dockerfile)$/.test(path);
  return isHash ? blank(text, hashCommentAt) : blank(text, createSlashCommentAt());
}

type CommentAt = (text: string, at: number) => number | undefined;

function blank(text: string, commentAt: CommentAt): string {
  let quote = "";
  let from = 0;
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? "";
    if (quote !== "") {
      if (char === "\\") at += 1;
      // Only a template can span lines. An apostrophe in prose opens no string beyond its line.
      else if (char === quote || (char === "\n" && quote !== "`")) quote = "";
      continue;
    }
    if (char === '"' || char === "'" || char === "`") {
      quote = char;
      continue;
    }
    const end = commentAt(text, at);
    if (end === undefined) continue;
    parts.push(text.slice(from, at), text.slice(at, end).replaceAll(/[^\n]/g, " "));
    from = end;
    at = end - 1;
  }
  parts.push(text.slice(from));
  return parts.join("");
}

const lineEnd = (text: string, at: number) => {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
};

/** Finds the end of a comment that starts at a position, if one does: `//`, except in a URL, and a block that is closed. */
function createSlashCommentAt(): CommentAt {
  /** A closing that was not found is not searched for again: a text of openings would take quadratic time. */
  const missing = new Set<string>();
  const blockEnd = (text: string, at: number, closing: string) => {
    if (missing.has(closing)) return undefined;
    const end = text.indexOf(closing, at + 2);
    if (end < 0) missing.add(closing);
    return end < 0 ? undefined : end + closing.length;
  };
  return (text, at) => {
    if (text[at] === "<" && text.startsWith("<!--", at)) return blockEnd(text, at, "-->");
    if (text[at] !== "/") return undefined;
    if (text[at + 1] === "/") return text[at - 1] === ":" ? undefined : lineEnd(text, at);
    return text[at + 1] === "*" ? blockEnd(text, at, "*/") : undefined;
  };
}

function hashCommentAt(text: string, at: number): number | undefined {
  const isComment = text[at] === "#" && (at === 0 || /\s/.test(text[at - 1] ?? ""));
  return isComment ? lineEnd(text, at) : undefined;
}
