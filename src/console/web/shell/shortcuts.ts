import { effect, signal } from "@preact/signals";
import { refreshLists } from "../data/pages.ts";
import { refreshShown } from "../data/query.ts";
import { pageConfig } from "../page-config.ts";
import { isPageServed } from "../page-settings.ts";

export type Theme = "auto" | "light" | "dark";

const stored = (key: string): string | null => {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
};

function store(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // A browser that stores nothing forgets the choice with the tab.
  }
}

const storedTheme = stored("theme");

export const theme = signal<Theme>(storedTheme === "light" || storedTheme === "dark" ? storedTheme : "auto");
effect(() => {
  if (theme.value === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
  if (theme.value !== (storedTheme ?? "auto") || storedTheme !== null) store("theme", theme.value);
});

/** Whether single keys are shortcuts; WCAG 2.1.4 requires a switch. */
export const shortcutsOn = signal(stored("shortcuts") !== "off");
effect(() => {
  if (!shortcutsOn.value || stored("shortcuts") !== null)
    store("shortcuts", shortcutsOn.value ? "on" : "off");
});

export const isHelpOpen = signal(false);

const ALL_SECTIONS = [
  { key: "e", href: "/console" },
  { key: "s", href: "/console/stream" },
  { key: "m", href: "/console/manage" },
  { key: "t", href: "/console/status" },
] as const;
/** The sections that this node serves, by the key after `g`. */
export const sections = ALL_SECTIONS.filter(({ href }) => isPageServed(href, pageConfig));

const CHORD_MS = 1500;

const rows = () => [...document.querySelectorAll<HTMLElement>("main [data-row]")];
const focusedRow = () => document.activeElement?.closest<HTMLElement>("[data-row]") ?? undefined;

function moveRow(by: number): void {
  const all = rows();
  const focused = focusedRow();
  const at = focused ? all.indexOf(focused) + by : 0;
  const row = all[Math.max(0, Math.min(all.length - 1, at))];
  if (!row) return;
  if (row.tabIndex < 0) row.tabIndex = -1;
  row.focus();
  row.scrollIntoView({ block: "nearest" });
}

/** Returns where to look for a call, nearest first: the focused row, its region, the page. */
function callScopes(): ParentNode[] {
  const row = focusedRow();
  const region = document.activeElement?.closest<HTMLElement>(".region");
  return [row, region, document.querySelector("main")].filter((scope) => scope != null);
}

const click = (selector: string, scopes: readonly ParentNode[] = [document]): void => {
  for (const scope of scopes) {
    const found = scope.querySelector<HTMLElement>(selector);
    if (!found) continue;
    found.click();
    return;
  }
};

function focusSearch(): void {
  document.querySelector<HTMLInputElement>("header.bar input")?.select();
}

const KEYS: Readonly<Record<string, () => void>> = {
  "/": focusSearch,
  j: () => moveRow(1),
  k: () => moveRow(-1),
  u: () => [...document.querySelectorAll<HTMLElement>("nav.crumbs a")].at(-1)?.click(),
  c: () => {
    const [nearest] = callScopes();
    if (nearest && !nearest.querySelector("[data-call]")) click("[data-call-button]", [nearest]);
    requestAnimationFrame(() => click("[data-call] [data-copy]", callScopes()));
  },
  ".": () => click("[data-call-button]", callScopes()),
  r: () => {
    refreshShown();
    refreshLists();
  },
  "?": () => {
    isHelpOpen.value = true;
  },
};

const FIELDS = "input, textarea, select, [contenteditable], dialog";

/** Listens for the shortcuts of the console. `navigate` opens a path of this origin. */
export function startShortcuts(navigate: (path: string) => void): () => void {
  let chordUntilMs = 0;
  function onKey(event: KeyboardEvent) {
    const target = event.target as Element;
    if (event.key === "k" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      return focusSearch();
    }
    if (event.ctrlKey || event.metaKey || event.altKey || !shortcutsOn.value || target.closest(FIELDS))
      return;
    const isChord = performance.now() < chordUntilMs;
    chordUntilMs = 0;
    const section = sections.find(({ key }) => key === event.key);
    if (isChord && section) return navigate(section.href);
    if (event.key === "g") {
      chordUntilMs = performance.now() + CHORD_MS;
      return;
    }
    if (event.key === "Enter") {
      // A link or button in the row handles Enter itself.
      if (target.matches("[data-row]")) click("a[data-open]", [target]);
      return;
    }
    const run = KEYS[event.key];
    if (!run) return;
    event.preventDefault();
    run();
  }
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}
