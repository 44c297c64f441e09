import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";

const DIR = join(import.meta.dir, "../aria");
/** Set to write the snapshots again. */
const WRITE = "SVC_WRITE_ARIA";
/** Roles whose names are of the page, not of what people wrote. */
const NAMED = new Set([
  "banner",
  "navigation",
  "main",
  "contentinfo",
  "region",
  "tablist",
  "tab",
  "textbox",
  "searchbox",
  "combobox",
  "checkbox",
  "switch",
  "radio",
  "group",
  "form",
  "dialog",
  "table",
  "columnheader",
  "progressbar",
]);
/** Roles whose content depends on the data; of each only the role is in a snapshot. */
const CONTENT = new Set([
  "list",
  "article",
  "row",
  "rowgroup",
  "figure",
  "img",
  "code",
  "paragraph",
  "text",
  "time",
  "term",
  "definition",
  "log",
  "strong",
  "emphasis",
  "separator",
  "status",
  "alert",
  "blockquote",
]);

/**
 * The roles of a page as a tree of lines, with the names and levels that its code gives. What depends on data is not in it: the content of
 * lists and tables, links and buttons in the main part, their names outside of the navigation, and groups without anything of the outline.
 */
function outlineOf(snapshot: string): string {
  const lines: string[] = [];
  let hiddenBelow = Number.POSITIVE_INFINITY;
  let navigation = Number.POSITIVE_INFINITY;
  let isMain = false;
  for (const line of snapshot.split("\n")) {
    const [, indent = "", role = "", name, rest = ""] =
      /^( *)- '?(\/?\w+)(?: ("(?:[^"\\]|\\.)*"|\/.*\/))?(.*)$/.exec(line) ?? [];
    if (role === "" || role.startsWith("/")) continue;
    if (indent.length > hiddenBelow) continue;
    hiddenBelow = Number.POSITIVE_INFINITY;
    if (indent === "") isMain = role === "main";
    if (CONTENT.has(role)) {
      hiddenBelow = indent.length;
      continue;
    }
    if (indent.length <= navigation) navigation = Number.POSITIVE_INFINITY;
    if (role === "navigation") navigation = indent.length;
    const isLink = role === "link" || role === "button";
    // Those of the bar name the owner, and those of the main part what people wrote.
    if (isMain && isLink) continue;
    const isOwn = NAMED.has(role) || (isLink && indent.length > navigation);
    const level = /\[level=\d\]/.exec(rest)?.[0];
    lines.push(
      [`${indent}- ${role}`, isOwn ? name?.replaceAll(/\d+/g, "N") : undefined, level]
        .filter((part) => part !== undefined)
        .join(" "),
    );
  }
  const depthOf = (line = "") => line.search(/\S/);
  // Such as a closed <details>, which may be there for some data only.
  const isEmptyGroup = (line: string, at: number) =>
    /^ *- group$/.test(line) && depthOf(lines[at + 1]) <= depthOf(line);
  const kept = lines.filter((line, at) => !isEmptyGroup(line, at));
  return `${kept.filter((line, at) => line !== kept[at - 1]).join("\n")}\n`;
}

/**
 * What differs between a page and its snapshot in test/browser/aria, or an empty list.
 *
 * @param name of the snapshot: the path of the page in the table, and what is special
 */
export async function ariaDifferences(page: Page, name: string): Promise<string[]> {
  const file = join(DIR, `${name.replaceAll(/[^a-z]+/gi, "-").replaceAll(/^-|-$/g, "") || "landing"}.txt`);
  const outline = outlineOf(await page.locator("body").ariaSnapshot());
  if (process.env[WRITE] === "1") {
    mkdirSync(DIR, { recursive: true });
    writeFileSync(file, outline);
    return [];
  }
  const known = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (known === outline) return [];
  const before = new Set(known.split("\n"));
  const after = new Set(outline.split("\n"));
  const gone = [...before].filter((line) => !after.has(line)).map((line) => `aria: without ${line.trim()}`);
  const added = [...after].filter((line) => !before.has(line)).map((line) => `aria: with ${line.trim()}`);
  const [was, is] = [known.split("\n"), outline.split("\n")];
  const at = is.findIndex((line, index) => line !== was[index]);
  const first = `aria: line ${at + 1} is ${is[at]?.trim() ?? "missing"}, was ${was[at]?.trim() ?? "missing"}`;
  return [`${file} is another: look at it, and write it again with ${WRITE}=1`, first, ...gone, ...added];
}
