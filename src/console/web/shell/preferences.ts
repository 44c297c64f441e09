import { effect, signal } from "@preact/signals";

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

/** Whether single keys are shortcuts; WCAG 2.1.4 wants a switch. */
export const shortcutsOn = signal(stored("shortcuts") !== "off");
effect(() => {
  if (!shortcutsOn.value || stored("shortcuts") !== null)
    store("shortcuts", shortcutsOn.value ? "on" : "off");
});
